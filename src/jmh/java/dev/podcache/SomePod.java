package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;

/** Pods as clusters have them: two containers, half of the Secrets by environment, half by volumes. */
final class SomePod {

    private SomePod() {}

    /** A pod that refers to {@code secrets}, and to as many ConfigMaps as {@code configMaps} has. */
    static Pod of(String namespace, String name, List<String> secrets, List<String> configMaps) {
        var spec = new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withUid("uid-" + name)
                .withResourceVersion("1")
                .endMetadata()
                .withNewSpec();
        var web = spec.addNewContainer().withName("web").withImage("shop/web:1");
        for (int i = 0; i < secrets.size(); i += 2) {
            web = web.addNewEnv()
                    .withName("E" + i)
                    .withNewValueFrom()
                    .withNewSecretKeyRef("value", secrets.get(i), null)
                    .endValueFrom()
                    .endEnv();
        }
        spec = web.endContainer();
        var log = spec.addNewContainer().withName("log").withImage("shop/log:1");
        for (String configMap : configMaps) {
            log = log.addNewEnvFrom().withNewConfigMapRef(configMap, null).endEnvFrom();
        }
        spec = log.endContainer();
        for (int i = 1; i < secrets.size(); i += 2) {
            spec = spec.addNewVolume()
                    .withName("v" + i)
                    .withNewSecret()
                    .withSecretName(secrets.get(i))
                    .endSecret()
                    .endVolume();
        }
        return spec.endSpec().build();
    }
}
