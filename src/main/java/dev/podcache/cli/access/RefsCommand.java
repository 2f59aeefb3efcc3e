package dev.podcache.cli.access;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.Quoted;
import dev.podcache.pod.ReferencePath;
import dev.podcache.pod.TrustBundleReferences;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code refs}. */
@Command(
        name = "refs",
        header = "Shows the Secrets and ConfigMaps that a manifest's pods refer to, and where.",
        mixinStandardHelpOptions = true,
        description = {
            "Reads pods, PodTemplates, and the pod templates of Deployments, StatefulSets, DaemonSets, ReplicaSets,"
                    + " ReplicationControllers, Jobs and CronJobs. Prints each place that names an object. Needs no"
                    + " cluster. Two things are decided in the cluster: pull secrets of the pod's ServiceAccount are"
                    + " added there, and are not shown; a token volume is assumed unless automountServiceAccountToken is"
                    + " false."
        },
        footer = {
            "",
            "Examples:",
            "  podcache refs -f deploy/examples/example-pod.yaml",
            "  kubectl get deployments -A -o yaml | podcache refs -f - -o json"
        })
public final class RefsCommand implements Callable<Integer> {

    private static final String TRUST_BUNDLE = "ClusterTrustBundle";
    private static final int KIND_WIDTH = "ConfigMap".length();

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private ManifestOptions manifest = new ManifestOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    public RefsCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        if (!manifest.isGiven() && spec != null) {
            throw new ParameterException(
                    spec.commandLine(), "the manifest is missing: set -f FILE, or -f - to read it");
        }
        List<PodTemplate> templates = manifest.templates(console);
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            templates.forEach(template -> write(template, events));
            events.requireReader();
        }
        return 0;
    }

    private void write(PodTemplate template, EventWriter events) {
        List<ReferencePath> references = template.references();
        TrustBundleReferences bundles = template.trustBundles();
        if (output.format == EventWriter.Format.TEXT) {
            String none = references.isEmpty() && bundles.isEmpty() ? ": no references" : "";
            events.block(ProgramEvent.of("pod", "name", template + none));
        }
        int width =
                references.stream().mapToInt(each -> shown(each).length()).max().orElse(0);
        references.forEach(each -> events.block(event(template, each, width)));
        bundles.names().forEach(name -> events.block(event(template, "name", name)));
        bundles.signers().forEach(signer -> events.block(event(template, "signer", signer)));
    }

    private static ProgramEvent event(PodTemplate template, String field, String value) {
        String of = field.equals("signer") ? "of signer " : "";
        return new ProgramEvent(
                "reference",
                "  " + TRUST_BUNDLE + "  " + of + Quoted.text(value),
                ImmutableMap.of("pod", template.toString(), "kind", TRUST_BUNDLE, field, value));
    }

    /** Returns namespace and name on one line: nothing has checked the names in a manifest. */
    private static String shown(ReferencePath path) {
        return Quoted.text(path.reference().key().toString());
    }

    private static ProgramEvent event(PodTemplate template, ReferencePath path, int width) {
        String text = "  " + Strings.padEnd(path.kind().name(), KIND_WIDTH, ' ') + "  "
                + Strings.padEnd(shown(path), width, ' ')
                + (path.optional() ? "  optional  " : "  required  ") + path.path();
        return new ProgramEvent(
                "reference",
                text,
                ImmutableMap.<String, Object>builder()
                        .put("pod", template.toString())
                        .put("kind", path.kind().name())
                        .put("namespace", path.reference().key().namespace())
                        .put("name", path.reference().key().name())
                        .put("usage", path.reference().usage().name())
                        .put("optional", path.optional())
                        .put("path", path.path())
                        .buildOrThrow());
    }
}
