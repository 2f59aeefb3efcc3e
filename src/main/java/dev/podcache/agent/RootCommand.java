package dev.podcache.agent;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The program without a subcommand: the demo, with its options. */
@Command(
        name = "podcache-agent",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.Provider.class,
        description =
                "Keeps the Secrets and ConfigMaps of a node's pods cached. Without a subcommand, shows how (demo).",
        footer = {
            "",
            "Examples:",
            "  podcache-agent                                    the demo: no cluster needed, ends by itself",
            "  podcache-agent demo --for 15s -o json",
            "  podcache-agent observe --hostname-override worker-1     looks at a node, changes nothing",
            "  podcache-agent run --kubeconfig node.kubeconfig --hostname-override hollow-1     is a node",
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
