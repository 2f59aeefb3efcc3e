package dev.podcache.pod;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Extracts the Secrets and ConfigMaps that a pod refers to by name, and the identity of the pod. All objects are in the
 * pod's namespace, because a pod cannot name another one. Pure and thread-safe, provided that the pod is not modified
 * concurrently.
 *
 * <p>An object gives one {@link Reference} for each usage, however often the pod mentions it. Names are not checked;
 * null and empty names are skipped. Every part below {@code spec} may be null, list elements included.
 *
 * <p>References of the referenced objects do not count, nor do objects that a pod receives without naming them: service
 * account tokens, trust bundles and pod certificates.
 *
 * <p>Follows {@code VisitPodSecretNames} and {@code VisitPodConfigmapNames} of {@code pkg/api/v1/pod/util.go}.
 */
public final class PodReferences {

    private static final String REMEDY = ": register pods as the API server returned them";

    /** The initial capacity of a set of references. */
    private static final int EXPECTED_REFERENCES = 8;

    private PodReferences() {}

    /**
     * Returns the Secrets that {@code pod} refers to, in the order of their first mention.
     *
     * @return unmodifiable
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or spec; the message says which
     */
    public static Set<Reference> secrets(Pod pod) {
        ImmutableSet.Builder<Reference> found = ImmutableSet.builderWithExpectedSize(EXPECTED_REFERENCES);
        forEach(pod, (key, usage) -> found.add(new Reference(key, usage)), (key, usage) -> {});
        return found.build();
    }

    /**
     * Returns the ConfigMaps that {@code pod} refers to, in the order of their first mention.
     *
     * @return unmodifiable
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or spec; the message says which
     */
    public static Set<Reference> configMaps(Pod pod) {
        ImmutableSet.Builder<Reference> found = ImmutableSet.builderWithExpectedSize(EXPECTED_REFERENCES);
        forEach(pod, (key, usage) -> {}, (key, usage) -> found.add(new Reference(key, usage)));
        return found.build();
    }

    /** Returns the keys of {@link #secrets}, whatever their usage, as an unmodifiable set. */
    public static Set<ObjectKey> secretKeys(Pod pod) {
        ImmutableSet.Builder<ObjectKey> found = ImmutableSet.builderWithExpectedSize(EXPECTED_REFERENCES);
        forEach(pod, (key, usage) -> found.add(key), (key, usage) -> {});
        return found.build();
    }

    /** Returns the keys of {@link #configMaps}, whatever their usage, as an unmodifiable set. */
    public static Set<ObjectKey> configMapKeys(Pod pod) {
        ImmutableSet.Builder<ObjectKey> found = ImmutableSet.builderWithExpectedSize(EXPECTED_REFERENCES);
        forEach(pod, (key, usage) -> {}, (key, usage) -> found.add(key));
        return found.build();
    }

    /**
     * Passes each mention of a Secret in {@code pod} to {@code secrets}, and each of a ConfigMap to {@code configMaps}, in
     * the order of the spec. An object comes as often as the pod mentions it.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or spec; the message says which
     */
    public static void forEach(Pod pod, BiConsumer<ObjectKey, Usage> secrets, BiConsumer<ObjectKey, Usage> configMaps) {
        Objects.requireNonNull(secrets, "secrets");
        Objects.requireNonNull(configMaps, "configMaps");
        String namespace = metadata(pod).getNamespace();
        PodSpecNames.forEach(spec(pod), named(namespace, secrets), named(namespace, configMaps));
    }

    private static BiConsumer<Usage, @Nullable String> named(String namespace, BiConsumer<ObjectKey, Usage> found) {
        return (usage, name) -> {
            if (name != null && !name.isEmpty()) {
                found.accept(ObjectKey.of(namespace, name), usage);
            }
        };
    }

    /**
     * Returns the identity of {@code pod}. Needs no spec, so a pod can be unregistered by its identity alone.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or UID; the message says which
     */
    public static PodKey key(Pod pod) {
        ObjectMeta metadata = metadata(pod);
        @Nullable String uid = metadata.getUid();
        if (isMissing(uid)) {
            throw new IllegalArgumentException(named(metadata) + " has no metadata.uid" + REMEDY);
        }
        return PodKey.of(metadata.getNamespace(), metadata.getName(), uid);
    }

    /**
     * Returns the identity of {@code pod} if it is complete enough to be registered.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name, UID or spec; the message says which
     */
    public static PodKey registrableKey(Pod pod) {
        PodKey key = key(pod);
        spec(pod);
        return key;
    }

    /** Returns the metadata of a pod, after checking its namespace and name. */
    private static ObjectMeta metadata(Pod pod) {
        @Nullable ObjectMeta metadata = Objects.requireNonNull(pod, "pod").getMetadata();
        if (metadata == null) {
            throw new IllegalArgumentException("a pod has no metadata" + REMEDY);
        }
        if (isMissing(metadata.getName())) {
            throw new IllegalArgumentException("a pod has no metadata.name" + REMEDY);
        }
        if (isMissing(metadata.getNamespace())) {
            throw new IllegalArgumentException("pod " + metadata.getName() + " has no metadata.namespace" + REMEDY);
        }
        return metadata;
    }

    private static PodSpec spec(Pod pod) {
        @Nullable PodSpec spec = pod.getSpec();
        if (spec == null) {
            throw new IllegalArgumentException(named(pod.getMetadata()) + " has no spec" + REMEDY);
        }
        return spec;
    }

    private static boolean isMissing(@Nullable String value) {
        return value == null || value.isEmpty();
    }

    private static String named(ObjectMeta metadata) {
        return "pod " + metadata.getNamespace() + "/" + metadata.getName();
    }
}
