package dev.podcache.pod;

import static dev.podcache.pod.PodSpecNames.present;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjection;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import org.jspecify.annotations.Nullable;

/**
 * The ClusterTrustBundles that a pod projects into its volumes. Immutable. A bundle has no namespace.
 *
 * @param names of bundles; not checked
 * @param signers whose bundles are selected by labels
 */
public record TrustBundleReferences(ImmutableSet<String> names, ImmutableSet<String> signers) {

    /** Returns the references of a pod, each once. Every part below {@code spec} may be null. */
    public static TrustBundleReferences of(PodSpec spec) {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        ImmutableSet.Builder<String> signers = ImmutableSet.builder();
        for (Volume volume : present(spec.getVolumes())) {
            if (volume.getProjected() != null) {
                for (VolumeProjection source : present(volume.getProjected().getSources())) {
                    add(source.getClusterTrustBundle(), names, signers);
                }
            }
        }
        return new TrustBundleReferences(names.build(), signers.build());
    }

    private static void add(
            @Nullable ClusterTrustBundleProjection bundle,
            ImmutableSet.Builder<String> names,
            ImmutableSet.Builder<String> signers) {
        // as in a kubelet, the name counts where both are given
        if (bundle != null && bundle.getName() != null) {
            names.add(bundle.getName());
        } else if (bundle != null && bundle.getSignerName() != null) {
            signers.add(bundle.getSignerName());
        }
    }

    /** Returns whether there is none. */
    public boolean isEmpty() {
        return names.isEmpty() && signers.isEmpty();
    }
}
