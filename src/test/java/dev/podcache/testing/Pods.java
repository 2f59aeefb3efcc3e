package dev.podcache.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;

/** Creates pods for tests. */
public final class Pods {

    private Pods() {}

    /** Creates a pod that refers to Secrets, alternately by volume and by environment. */
    public static Pod withSecrets(String namespace, String name, String uid, String... secrets) {
        return withSecrets(namespace, name, uid, List.of(secrets));
    }

    /** Creates a pod that refers to Secrets, alternately by volume and by environment. */
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

    /** Creates a pod of a node in namespace {@code shop}, with one container {@code main} and without references. */
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

    /** Adds a volume from a Secret to a pod. */
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

    /** Returns a copy of a pod with another resourceVersion. */
    public static Pod at(Pod pod, String resourceVersion) {
        return new PodBuilder(pod)
                .editMetadata()
                .withResourceVersion(resourceVersion)
                .endMetadata()
                .build();
    }
}
