package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
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
            defaultValue = "default",
            description = "the namespace of what names none (default: ${DEFAULT-VALUE})")
    private String namespace = "default";

    /** Returns the namespace of what names none. */
    String namespace() {
        return namespace;
    }

    /** Returns whether a manifest is given. */
    boolean isGiven() {
        return file != null;
    }

    /**
     * Returns the pods and templates of the manifest.
     *
     * @throws CommandException if it cannot be read, or has no pod
     */
    ImmutableList<PodTemplate> templates(Console console) {
        String given = file == null ? "" : file;
        ImmutableList<PodTemplate> templates = PodTemplates.in(Manifests.read(given, console.in()), namespace);
        if (templates.isEmpty()) {
            throw new CommandException(
                    "manifest " + given + " has no pod: give one with a Pod, Deployment, StatefulSet, DaemonSet, Job or"
                            + " CronJob",
                    null);
        }
        return templates;
    }
}
