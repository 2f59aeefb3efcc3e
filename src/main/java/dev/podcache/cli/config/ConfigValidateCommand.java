package dev.podcache.cli.config;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The subcommand {@code config validate}. */
@Command(
        name = "validate",
        header = "Checks a configuration file, and prints every error with its line.",
        mixinStandardHelpOptions = true,
        description = {
            "Accepts what run --config accepts: a KubeletConfiguration, a PodcacheConfiguration, or both. Exits with 1 if"
                    + " the file has an error. Fields without effect here are no errors."
        },
        footer = {"", "Example:", "  podcache config validate -f deploy/examples/kubelet-config.yaml"})
final class ConfigValidateCommand implements Callable<Integer> {

    private final Console console;

    @Option(
            names = {"-f", "--filename", "--config"},
            paramLabel = "FILE",
            required = true,
            description = "the file to check")
    private @Nullable Path file;

    @Mixin
    private OutputOptions output = new OutputOptions();

    ConfigValidateCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Path given = file == null ? Path.of("") : file;
        List<String> errors = new ArrayList<>();
        ConfigurationFile read = ConfigurationFile.read(given, error -> errors.add(String.valueOf(error.getMessage())));
        addErrors(read.settings(), errors);
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            errors.forEach(error ->
                    events.block(new ProgramEvent("error", "error: " + error, ImmutableMap.of("message", error))));
            read.reportIgnored(events);
            if (errors.isEmpty()) {
                events.block(ProgramEvent.of("valid", "file", given + " is valid"));
            }
            events.requireReader();
        }
        return errors.isEmpty() ? 0 : 1;
    }

    /** Adds the error of one field after the other, until the rest of them is valid. */
    private static void addErrors(Settings settings, List<String> errors) {
        Settings rest = settings;
        while (true) {
            try {
                KubeletSettings.configuration(rest, Settings.NONE);
                return;
            } catch (IllegalSettingException e) {
                String message = String.valueOf(e.getMessage());
                errors.add(message);
                String field = fieldOf(rest, message);
                if (field == null) {
                    return;
                }
                rest = rest.without(field);
            }
        }
    }

    /** Returns the field whose place begins the message. */
    private static @Nullable String fieldOf(Settings settings, String message) {
        return settings.fields().entrySet().stream()
                .filter(entry -> message.startsWith(entry.getValue().where()))
                .max(Map.Entry.comparingByValue(
                        (a, b) -> a.where().length() - b.where().length()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
