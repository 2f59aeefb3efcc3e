package dev.podcache.cli.demo;

import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.observe.PageOptions;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.OutputOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code demo}. */
@Command(
        name = "demo",
        header = "Shows an agent at work. Needs no cluster.",
        mixinStandardHelpOptions = true,
        description = {
            "Runs an agent against an API server in this process, with a small workload. A Secret is rotated, pods come"
                    + " and go, the server fails. Ends after one minute, or after --for. After the first minute nothing"
                    + " happens by itself: change the objects with kubectl.",
        },
        footer = {"", "Examples:", "  podcache demo --for 15s", "  podcache demo --for 30m --ui-port 8080"})
public final class DemoCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    public DemoCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        return new Demo(console, agent, page, output).run();
    }
}
