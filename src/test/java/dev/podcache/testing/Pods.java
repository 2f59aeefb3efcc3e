package dev.podcache.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;

/** Pods as tests need them. */
public final class Pods {

    private Pods() {}

    /** A pod that refers to Secrets, every second one by volume, the others by environment. */
    public static Pod withSecrets(String namespace, String name, String uid, String... secrets) {
        return withSecrets(namespace, name, uid, List.of(secrets));
    }

    public static Pod withSecrets(String namespace, String name, String uid, List<String> secrets) {
        PodSpecBuilder spec = new PodSpecBuilder();
        var container = spec.addNewContainer().withName("main");
        for (int i = 0; i < secrets.size(); i += 2) {
            container = container
                    .addNewEnvFrom()
                    .withNewSecretRef(secrets.get(i), null)
                    .endEnvFrom();
        }
        spec = container.endContainer();
        for (int i = 1; i < secrets.size(); i += 2) {
            spec = spec.addNewVolume()
                    .withName("v" + i)
                    .withNewSecret()
                    .withSecretName(secrets.get(i))
                    .endSecret()
                    .endVolume();
        }
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withUid(uid)
                .endMetadata()
                .withSpec(spec.build())
                .build();
    }

    /** A pod of a node in {@code shop}, with one container, {@code main}, that needs nothing. */
    public static PodBuilder assigned(String node, String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withEnableServiceLinks(false)
                .withRestartPolicy("Always")
                .addNewContainer()
                .withName("main")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    /** The same with a volume from a Secret. */
    public static PodBuilder withVolume(PodBuilder pod, String secret) {
        return pod.editSpec()
                .addNewVolume()
                .withName("v-" + secret)
                .withNewSecret()
                .withSecretName(secret)
                .withDefaultMode(0644)
                .endSecret()
                .endVolume()
                .endSpec();
    }

    /** The same pod at another resourceVersion. */
    public static Pod at(Pod pod, String resourceVersion) {
        return new PodBuilder(pod)
                .editMetadata()
                .withResourceVersion(resourceVersion)
                .endMetadata()
                .build();
    }
}
