package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSourceBuilder;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeFile;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeSource;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeSourceBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.KeyToPathBuilder;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSource;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSourceBuilder;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.SecretVolumeSourceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjectionBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parts of volumes. Not by constructors of the model, whose parameters differ between versions of fabric8. */
final class VolumeParts {

    private VolumeParts() {}

    static KeyToPath keyToPath(String key, @Nullable Integer mode, String path) {
        return new KeyToPathBuilder().withKey(key).withMode(mode).withPath(path).build();
    }

    static SecretVolumeSource secret(
            @Nullable Integer mode, List<KeyToPath> items, @Nullable Boolean optional, String name) {
        return new SecretVolumeSourceBuilder()
                .withDefaultMode(mode)
                .withItems(items)
                .withOptional(optional)
                .withSecretName(name)
                .build();
    }

    static ConfigMapVolumeSource configMap(
            @Nullable Integer mode, List<KeyToPath> items, String name, @Nullable Boolean optional) {
        return new ConfigMapVolumeSourceBuilder()
                .withDefaultMode(mode)
                .withItems(items)
                .withName(name)
                .withOptional(optional)
                .build();
    }

    static ProjectedVolumeSource projected(@Nullable Integer mode, List<VolumeProjection> sources) {
        return new ProjectedVolumeSourceBuilder()
                .withDefaultMode(mode)
                .withSources(sources)
                .build();
    }

    static DownwardAPIVolumeSource downwardApi(@Nullable Integer mode, List<DownwardAPIVolumeFile> items) {
        return new DownwardAPIVolumeSourceBuilder()
                .withDefaultMode(mode)
                .withItems(items)
                .build();
    }

    static ServiceAccountTokenProjection token(String audience, @Nullable Long seconds, String path) {
        return new ServiceAccountTokenProjectionBuilder()
                .withAudience(audience)
                .withExpirationSeconds(seconds)
                .withPath(path)
                .build();
    }
}
