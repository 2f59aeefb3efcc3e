package dev.podcache.cli;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.Versions;
import io.fabric8.kubernetes.client.Version;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code version}. */
@Command(
        name = "version",
        header = "Prints versions.",
        mixinStandardHelpOptions = true,
        description = "Of Podcache, of Java and of the Kubernetes client.",
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
        ImmutableMap<String, Object> versions = ImmutableMap.of(
                "podcache",
                Versions.podcache(),
                "java",
                System.getProperty("java.version"),
                "fabric8",
                Version.clientVersion());
        StringBuilder text = new StringBuilder();
        versions.forEach((name, version) -> text.append(String.format("%-9s %s%n", name, version)));
        Account account = Account.direct(console.out(), output.format, System::nanoTime);
        account.block(new Event("version", text.toString().stripTrailing(), versions));
        account.requireUnbroken();
        return 0;
    }
}
