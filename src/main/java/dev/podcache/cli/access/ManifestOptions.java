package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name a manifest. */
final class ManifestOptions {

    @Option(
            names = {"-f", "--filename"},
            paramLabel = "FILE",
            description = "a manifest of pods or workloads in YAML or JSON; - for standard input")
    private @Nullable String file;

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAMESPACE",
            description = "the namespace of what names none; default for a manifest: default")
    private @Nullable String namespace;

    private @Nullable ImmutableList<PodTemplate> read; // null until the manifest was asked for

    /** Returns the namespace that was given for what names none; empty if none was. */
    Optional<String> namespace() {
        return Optional.ofNullable(namespace);
    }

    /** Returns whether a manifest is given. */
    boolean isGiven() {
        return file != null;
    }

    /**
     * Returns the pods and templates of the manifest. It is read once, because standard input has no second time.
     *
     * @throws CommandException if it cannot be read, or has no pod
     */
    ImmutableList<PodTemplate> templates(Console console) {
        ImmutableList<PodTemplate> known = read;
        if (known == null) {
            known = read(console);
            read = known;
        }
        return known;
    }

    private ImmutableList<PodTemplate> read(Console console) {
        String given = file == null ? "" : file;
        ImmutableList<PodTemplate> templates =
                PodTemplates.in(Manifests.read(given, console.in()), namespace().orElse("default"));
        if (templates.isEmpty()) {
            throw new CommandException(
                    "manifest " + given + " has no pod: give one with a Pod, Deployment, StatefulSet, DaemonSet, Job or"
                            + " CronJob",
                    null);
        }
        return templates;
    }
}
