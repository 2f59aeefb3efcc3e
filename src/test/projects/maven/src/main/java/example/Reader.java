package example;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;

/** The example of the README, at the API server that the first argument names. */
final class Reader {

    private Reader() {}

    public static void main(String[] arguments) {
        System.out.println(read(arguments[0]));
    }

    static String read(String url) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .withUid("1")
                .endMetadata()
                .withNewSpec()
                .addNewImagePullSecret("db-password")
                .addNewContainer()
                .withName("main")
                .addNewEnvFrom()
                .withNewConfigMapRef("settings", false)
                .endEnvFrom()
                .endContainer()
                .endSpec()
                .build();
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(url).build();
        try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
                Podcache podcache = Podcache.builder(client)
                        .node("worker-1")
                        .strategy(ChangeDetectionStrategy.WATCH)
                        .build()) {
            podcache.registerPod(pod);
            // a get alone waits a second, which a JVM that has just started may need on a busy machine
            podcache.awaitSynced(Duration.ofSeconds(60));
            Secret secret = podcache.secrets().getObject("shop", "db-password");
            ConfigMap settings = podcache.configMaps().getObject("shop", "settings");
            podcache.unregisterPod(pod);
            return "read " + secret.getData().keySet() + " and " + settings.getData();
        }
    }
}
