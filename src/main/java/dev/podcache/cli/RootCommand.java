package dev.podcache.cli;

import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.demo.Demo;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.Versions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The program without a subcommand: the demo, with its options. */
@Command(
        name = "podcache",
        mixinStandardHelpOptions = true,
        versionProvider = Versions.class,
        description =
                "Keeps the Secrets and ConfigMaps of a node's pods cached. Without a subcommand, shows how (demo).",
        footer = {
            "",
            "Examples:",
            "  podcache                                    the demo: no cluster needed, ends by itself",
            "  podcache demo --for 15s -o json",
            "  podcache observe --hostname-override worker-1     looks at a node, changes nothing",
            "  podcache run --kubeconfig node.kubeconfig --hostname-override hollow-1     is a node",
            "",
            "Exit codes: 0 all went well, 1 something failed, 2 the command line was wrong."
        })
final class RootCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    RootCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return new Demo(console, agent, output).run();
    }
}
