package dev.podcache;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
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
        Pod pod(String namespace, List<String> names) {
            var spec = aPod(namespace).withNewSpec();
            for (String name : names) {
                spec = spec.addNewVolume()
                        .withName(name)
                        .withNewSecret()
                        .withSecretName(name)
                        .endSecret()
                        .endVolume();
            }
            return spec.endSpec().build();
        }
    },
    /** ConfigMaps. */
    CONFIG_MAP {
        @Override
        ConfigMap make(ObjectKey key) {
            return configMap(key);
        }

        @Override
        Pod pod(String namespace, List<String> names) {
            var spec = aPod(namespace).withNewSpec();
            for (String name : names) {
                spec = spec.addNewVolume()
                        .withName(name)
                        .withNewConfigMap()
                        .withName(name)
                        .endConfigMap()
                        .endVolume();
            }
            return spec.endSpec().build();
        }
    };

    /** An object of that name. */
    abstract HasMetadata make(ObjectKey key);

    /** A pod that refers to that many by volumes. */
    abstract Pod pod(String namespace, List<String> names);

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

    private static PodBuilder aPod(String namespace) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("pod")
                .withUid("uid")
                .withResourceVersion("1")
                .endMetadata();
    }
}
