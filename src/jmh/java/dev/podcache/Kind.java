package dev.podcache;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import java.util.List;

/** The kinds that a cache holds. */
public enum Kind {
    /** Secrets. */
    SECRET {
        @Override
        Secret make(ObjectKey key) {
            return secret(key);
        }

        @Override
        VolumeBuilder fill(VolumeBuilder volume, String name) {
            return volume.withNewSecret().withSecretName(name).endSecret();
        }
    },
    /** ConfigMaps. */
    CONFIG_MAP {
        @Override
        ConfigMap make(ObjectKey key) {
            return configMap(key);
        }

        @Override
        VolumeBuilder fill(VolumeBuilder volume, String name) {
            return volume.withNewConfigMap().withName(name).endConfigMap();
        }
    };

    /** An object of that name. */
    abstract HasMetadata make(ObjectKey key);

    /** Has a volume refer to one. */
    abstract VolumeBuilder fill(VolumeBuilder volume, String name);

    /** A pod that refers to that many by volumes. */
    Pod pod(String namespace, List<String> names) {
        List<Volume> volumes = names.stream()
                .map(name -> fill(new VolumeBuilder().withName(name), name).build())
                .toList();
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("pod")
                .withUid("uid")
                .withResourceVersion("1")
                .endMetadata()
                .withNewSpec()
                .withVolumes(volumes)
                .endSpec()
                .build();
    }

    static Secret secret(ObjectKey key) {
        return Secrets.of(key, key.toString());
    }

    static ConfigMap configMap(ObjectKey key) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .endMetadata()
                .addToData("value", key.toString())
                .build();
    }
}
