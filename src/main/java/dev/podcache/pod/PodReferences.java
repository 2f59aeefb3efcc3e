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
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a pod refers to by name, and who the pod is. The objects lie in the pod's own namespace, because a pod cannot
 * name any other. Static, pure and thread-safe as long as nobody changes the pod meanwhile.
 *
 * <p>An object that the pod needs for several purposes gives one {@link Reference} for each, however often the pod
 * mentions it. Names are taken as they are, legal or not; null and empty ones, which a pod may contain, are skipped.
 * Any part of the pod below its {@code spec} may be null, elements of lists too.
 *
 * <p>What an object refers to in turn does not count, nor does what a pod gets without naming it: service account
 * tokens, trust bundles and pod certificates.
 *
 * <p>Follows {@code VisitPodSecretNames} and {@code VisitPodConfigmapNames} of {@code pkg/api/v1/pod/util.go}.
 */
public final class PodReferences {

    private static final String REMEDY = ": register pods as the API server returned them";

    /** For how many a set is made at first. */
    private static final int USUAL = 8;

    private PodReferences() {}

    /**
     * The Secrets that {@code pod} refers to, in the order of their first mention.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or spec; the message says which
     */
    public static ImmutableSet<Reference> secrets(Pod pod) {
        return secrets(pod, Reference::new);
    }

    /**
     * The ConfigMaps that {@code pod} refers to, in the order of their first mention.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or spec; the message says which
     */
    public static ImmutableSet<Reference> configMaps(Pod pod) {
        return configMaps(pod, Reference::new);
    }

    /** The objects of {@link #secrets}, whatever they are needed for. */
    public static ImmutableSet<ObjectKey> secretKeys(Pod pod) {
        return secrets(pod, (key, usage) -> key);
    }

    /** The objects of {@link #configMaps}, whatever they are needed for. */
    public static ImmutableSet<ObjectKey> configMapKeys(Pod pod) {
        return configMaps(pod, (key, usage) -> key);
    }

    private static <R> ImmutableSet<R> secrets(Pod pod, BiFunction<ObjectKey, Usage, R> meaning) {
        Gathered<R> gathered = new Gathered<>(pod, meaning);
        SecretNames.forEach(spec(pod), gathered);
        return gathered.build();
    }

    private static <R> ImmutableSet<R> configMaps(Pod pod, BiFunction<ObjectKey, Usage, R> meaning) {
        Gathered<R> gathered = new Gathered<>(pod, meaning);
        ConfigMapNames.forEach(spec(pod), gathered);
        return gathered.build();
    }

    /**
     * Who {@code pod} is. Needs no spec, so that a pod can take its leave with nothing but its identity.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name or uid; the message says which
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
     * Who {@code pod} is, if it is complete enough to be registered.
     *
     * @throws IllegalArgumentException if the pod has no metadata, namespace, name, uid or spec; the message says which
     */
    public static PodKey registrableKey(Pod pod) {
        PodKey key = key(pod);
        spec(pod);
        return key;
    }

    /** The metadata of a pod that has a namespace and a name. */
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

    /** Gathers names that may be null or empty, each as what it stands for. */
    private static final class Gathered<R> implements BiConsumer<Usage, @Nullable String> {

        private final String namespace;
        private final BiFunction<ObjectKey, Usage, R> meaning;
        private final ImmutableSet.Builder<R> builder = ImmutableSet.builderWithExpectedSize(USUAL);

        Gathered(Pod pod, BiFunction<ObjectKey, Usage, R> meaning) {
            this.namespace = metadata(pod).getNamespace();
            this.meaning = meaning;
        }

        @Override
        public void accept(Usage usage, @Nullable String name) {
            if (name != null && !name.isEmpty()) {
                builder.add(meaning.apply(ObjectKey.of(namespace, name), usage));
            }
        }

        ImmutableSet<R> build() {
            return builder.build();
        }
    }
}
