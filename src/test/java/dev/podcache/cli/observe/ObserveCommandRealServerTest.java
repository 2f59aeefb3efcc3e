package dev.podcache.cli.observe;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.demo.DemoCluster;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code observe} against a kube-apiserver, with the workload of the demo. */
@RealServerTest
class ObserveCommandRealServerTest {

    private final RealApiServer real = RealApiServer.shared();
    private final CapturedConsole console = new CapturedConsole(Path.of("."));
    private final List<HasMetadata> workload = DemoCluster.load("demo-workload.yaml");

    @AfterEach
    void deleteWorkload() {
        try (KubernetesClient admin = real.client()) {
            workload.stream()
                    .filter(object -> !(object instanceof Namespace))
                    .forEach(object -> admin.resource(object).withGracePeriod(0).delete());
        }
    }

    @Test
    void observe_workloadOfTheDemo_isFollowedReadAndSeenToChange() throws Exception {
        try (KubernetesClient admin = real.client()) {
            workload.forEach(object -> create(admin, object));
            CompletableFuture<Integer> code = CompletableFuture.supplyAsync(
                    () -> console.execute(
                            "observe",
                            "--node",
                            DemoCluster.NODE,
                            "--kubeconfig",
                            real.kubeconfig().toString(),
                            "--sync-frequency",
                            "100ms"),
                    NewThread.EACH);
            await().until(() -> printed("registered   pod shop/web-1"));
            real.kubectl("annotate", "node", DemoCluster.NODE, "--overwrite", "node.alpha.kubernetes.io/ttl=0");
            await().until(() -> printed("hits"));

            admin.resource(new SecretBuilder(admin.secrets()
                                    .inNamespace("shop")
                                    .withName("db-password")
                                    .get())
                            .withData(Map.of("password", "c2Vjb25k"))
                            .build())
                    .update();
            await().until(() -> printed("changed      Secret shop/db-password"));
            real.kubectl("delete", "pod", "-n", "shop", "web-0", "--force", "--grace-period=0");
            await().until(() -> printed("unregistered pod shop/web-0: deleted"));

            console.stop();
            assertThat(code.get(60, TimeUnit.SECONDS)).isZero();
            assertThat(console.out()).contains("-- Summary", "  pods               11");
            assertThat(console.err()).isEmpty();
        }
    }

    @Test
    void observe_userWithoutRights_failsNamingTheVerbToGrant() {
        int code = console.execute(
                "observe",
                "--node",
                "worker-1",
                "--kubeconfig",
                real.kubeconfigFor("somebody").toString());

        assertThat(code).isEqualTo(1);
        assertThat(console.err())
                .singleElement()
                .asString()
                .startsWith("error: API server " + real.url())
                .contains("403", "grant list and watch on pods");
    }

    private void create(KubernetesClient admin, HasMetadata object) {
        if (object instanceof Namespace namespace) {
            real.createNamespace(namespace.getMetadata().getName());
        } else {
            // the root certificate is there already
            admin.resource(object).createOr(existing -> existing.update());
        }
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }
}
