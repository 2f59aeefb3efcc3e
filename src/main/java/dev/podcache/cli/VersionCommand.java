package dev.podcache.cli;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.cli.output.Versions;
import io.fabric8.kubernetes.client.Version;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code version}. */
@Command(
        name = "version",
        header = "Prints the versions of Podcache, Java and the Kubernetes client.",
        mixinStandardHelpOptions = true,
        footer = {"", "Example:", "  podcache version -o json"})
final class VersionCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private OutputOptions output = new OutputOptions();

    VersionCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String java = System.getProperty("java.version");
        ImmutableMap<String, Object> versions =
                ImmutableMap.of("podcache", Versions.podcache(), "java", java, "fabric8", Version.clientVersion());
        String text = versions.entrySet().stream()
                .map(each -> String.format("%-9s %s", each.getKey(), each.getValue()))
                .collect(Collectors.joining(System.lineSeparator()));
        EventWriter events = EventWriter.to(console.out(), output.format);
        events.block(new ProgramEvent("version", text, versions));
        events.close();
        events.requireReader();
        return 0;
    }
}
