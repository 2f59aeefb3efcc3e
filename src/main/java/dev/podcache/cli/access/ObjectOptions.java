package dev.podcache.cli.access;

import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.config.StrategyNames;
import dev.podcache.cli.output.Console;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.pod.TrustBundleReferences;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which objects are to be cached, and by which strategy. */
public final class ObjectOptions {

    private static final Comparator<ObjectId> ORDER = Comparator.<ObjectId, String>comparing(
                    object -> object.key().namespace())
            .thenComparing(object -> object.kind().name(), Comparator.reverseOrder())
            .thenComparing(object -> object.key().name());

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--secrets",
            split = ",",
            paramLabel = "NAMESPACE/NAME",
            description = "Secrets, separated by commas")
    private List<String> secrets = new ArrayList<>();

    @Option(
            names = "--config-maps",
            split = ",",
            paramLabel = "NAMESPACE/NAME",
            description = "ConfigMaps, separated by commas")
    private List<String> configMaps = new ArrayList<>();

    @Option(
            names = "--strategy",
            paramLabel = "STRATEGY",
            completionCandidates = StrategyNames.class,
            defaultValue = "Watch",
            description = "Get, Cache or Watch (the default)")
    private ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;

    @Mixin
    private ManifestOptions manifest = new ManifestOptions();

    /** Returns the access that each object needs. */
    public StrategyAccess access() {
        return StrategyAccess.of(strategy);
    }

    /**
     * Returns the objects of the options and of the manifest, by namespace, Secrets first, then by name.
     *
     * @throws ParameterException if a name is not legal
     * @throws dev.podcache.cli.output.CommandException if the manifest cannot be read
     */
    public ImmutableSortedSet<ObjectId> objects(Console console) {
        List<ObjectId> objects = new ArrayList<>();
        add(objects, ObjectKind.SECRET, "--secrets", secrets);
        add(objects, ObjectKind.CONFIG_MAP, "--config-maps", configMaps);
        if (manifest.isGiven()) {
            manifest.templates(console).stream()
                    .map(PodTemplate::references)
                    .flatMap(Collection::stream)
                    .forEach(path -> objects.add(
                            new ObjectId(path.kind(), path.reference().key())));
        }
        return ImmutableSortedSet.copyOf(ORDER, objects);
    }

    /**
     * Returns the ServiceAccounts whose tokens an agent requests for the pods of the manifest.
     *
     * @throws dev.podcache.cli.output.CommandException if the manifest cannot be read
     */
    public ImmutableSortedSet<ObjectKey> tokenAccounts(Console console) {
        return manifest.isGiven()
                ? manifest.templates(console).stream()
                        .flatMap(template -> template.tokenAccount().stream())
                        .collect(ImmutableSortedSet.toImmutableSortedSet(
                                Comparator.comparing(ObjectKey::namespace).thenComparing(ObjectKey::name)))
                : ImmutableSortedSet.of();
    }

    /**
     * Returns the trust bundles that an agent reads for the pods of the manifest.
     *
     * @throws dev.podcache.cli.output.CommandException if the manifest cannot be read
     */
    List<TrustBundleReferences> trustBundles(Console console) {
        return manifest.isGiven()
                ? manifest.templates(console).stream()
                        .map(PodTemplate::trustBundles)
                        .toList()
                : List.of();
    }

    private void add(List<ObjectId> objects, ObjectKind<?> kind, String option, List<String> names) {
        for (String name : names) {
            int slash = name.indexOf('/');
            try {
                String namespace = slash < 0 ? manifest.namespace().orElse("") : name.substring(0, slash);
                if (namespace.isEmpty()) {
                    throw usage(option + ": " + Quoted.value(name)
                            + " names no namespace: write NAMESPACE/NAME, or set --namespace");
                }
                objects.add(new ObjectId(kind, ObjectKey.validated(namespace, name.substring(slash + 1))));
            } catch (IllegalArgumentException e) {
                throw usage(option + ": " + e.getMessage());
            }
        }
    }

    /**
     * Returns the name of a node as it was given.
     *
     * @throws ParameterException if it is not legal
     */
    public String node(String name) {
        try {
            return ObjectKey.validatedClusterScoped(name).name();
        } catch (IllegalArgumentException e) {
            throw usage("--node: " + e.getMessage());
        }
    }

    /** Returns an exception for a wrong command line. */
    ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
