package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.Podcache;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.manager.Manager;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The trust bundles of a pod, read with exactly the rights that {@code podcache rbac} prints, on a server that serves them only
 * after a while.
 */
@ExtendWith(NoLeaks.class)
class TrustBundleRightsTest {

    private static final String USER = "reader-of-bundles";
    private static final String SIGNER = "example.com/signer";

    private static String pem(int content) {
        return PemText.of("CERTIFICATE", new byte[] {(byte) content});
    }

    private static final class ChangedPods implements TrustBundles.BundleEvents {

        private final Set<String> uids = ConcurrentHashMap.newKeySet();

        @Override
        public void found(Manager<GenericKubernetesResource> named) {}

        @Override
        public void changed(String podUid) {
            uids.add(podUid);
        }
    }

    private static Pod pod() {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .withUid("u-1")
                .endMetadata()
                .withNewSpec()
                .addNewVolume()
                .withName("trust")
                .withNewProjected()
                .withDefaultMode(0644)
                .addNewSource()
                .withNewClusterTrustBundle()
                .withName("roots")
                .withPath("named.pem")
                .endClusterTrustBundle()
                .endSource()
                .addNewSource()
                .withNewClusterTrustBundle()
                .withSignerName(SIGNER)
                .withNewLabelSelector()
                .addToMatchLabels("live", "yes")
                .endLabelSelector()
                .withPath("signed.pem")
                .endClusterTrustBundle()
                .endSource()
                .endProjected()
                .endVolume()
                .endSpec()
                .build();
    }

    private void allow(KubernetesClient admin, Path folder) throws Exception {
        Path manifest = Files.writeString(folder.resolve("pod.yaml"), Serialization.asYaml(pod()));
        CapturedConsole console = new CapturedConsole(folder);
        console.execute("rbac", "--node", "unused", "-f", manifest.toString(), "--user", USER);
        admin.load(new ByteArrayInputStream(String.join("\n", console.out()).getBytes(UTF_8)))
                .resources()
                .filter(each -> each.item().getKind().startsWith("ClusterRole"))
                .forEach(each -> each.createOr(existing -> existing.update()));
    }

    private static KubernetesClient client(EmbeddedApiServer server, String user, String... groups) {
        Config config = Config.fromKubeconfig(server.kubeconfigFor(user, groups));
        config.setRequestRetryBackoffLimit(0);
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    @Test
    void bundles_areRefusedByName_thenReadWithThePrintedRights_thenFollowed(@TempDir Path folder) throws Exception {
        Pod pod = pod();
        ChangedPods changed = new ChangedPods();
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer embedded =
                        EmbeddedApiServer.builder(cluster).rbac().start();
                KubernetesClient admin = client(embedded, "admin", "system:masters");
                KubernetesClient reader = client(embedded, USER);
                Fabric8ApiServer server = Fabric8ApiServer.of(reader);
                Podcache cache = Podcache.builder(server).build();
                TrustBundles bundles = new TrustBundles(
                        new ServedTrustBundles(server, cache::objects),
                        new Recovery(server.timekeeper()),
                        server.timekeeper(),
                        changed)) {
            VolumePayloads payloads = new VolumePayloads(
                    cache.secrets(),
                    cache.configMaps(),
                    new ServiceAccountTokens(new FakeTokenRequests(), server.timekeeper(), () -> 0),
                    bundles);
            bundles.register(pod);
            assertThatThrownBy(() -> files(payloads, pod))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessageContaining("does not serve clustertrustbundles");

            allow(admin, folder);
            cluster.serve(FakeTrustBundles.KIND);
            cluster.create(FakeTrustBundles.bundle("roots", null, Map.of(), pem(2) + pem(1)));
            cluster.create(FakeTrustBundles.bundle("a", SIGNER, Map.of("live", "yes"), pem(4)));
            cluster.create(FakeTrustBundles.bundle("b", SIGNER, Map.of("live", "no"), pem(5)));

            await().ignoreExceptionsInstanceOf(PodConfigException.class)
                    .until(() -> files(payloads, pod), files -> files.equals(List.of(pem(1) + pem(2), pem(4))));

            changed.uids.clear();
            cluster.update(FakeTrustBundles.bundle("b", SIGNER, Map.of("live", "yes"), pem(3)));
            await().until(() -> changed.uids.contains("u-1"));
            assertThat(files(payloads, pod)).containsExactly(pem(1) + pem(2), pem(3) + pem(4));
        }
    }

    private static List<String> files(VolumePayloads payloads, Pod pod) {
        PodPlacement placement = PodPlacement.on(new Node(), List.of());
        return payloads.of(pod, pod.getSpec().getVolumes().get(0), placement).values().stream()
                .map(file -> new String(file.bytes(), UTF_8))
                .toList();
    }
}
