package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code hollow} on a kube-apiserver. */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@ExtendWith(NoLeaks.class)
class HollowCommandRealServerTest {

    private final RealApiServer real = RealApiServer.shared();

    @Test
    void twentyNodesWithFortyPods_runAndAreDeletedAtTheEnd() throws Exception {
        String namespace = real.createNamespaceLike("load");
        try (KubernetesClient admin = real.client();
                CommandRun run = CommandRun.start(
                        "hollow",
                        real.kubeconfig(),
                        "--nodes",
                        "20",
                        "--pods-per-node",
                        "2",
                        "--namespace",
                        namespace,
                        "--prefix",
                        namespace + "-")) {
            await().until(() -> run.says("20 of 20 nodes Ready, 40 of 40 pods Running"));
            await().until(() -> admin.pods().inNamespace(namespace).list().getItems().stream()
                    .allMatch(pod -> "Running".equals(pod.getStatus().getPhase())));

            assertThat(run.stop()).isZero();

            assertThat(admin.pods().inNamespace(namespace).list().getItems()).isEmpty();
            assertThat(admin.secrets().inNamespace(namespace).list().getItems()).isEmpty();
            assertThat(admin.nodes().list().getItems())
                    .noneMatch(node -> node.getMetadata().getName().startsWith(namespace));
            assertThat(admin.leases().inNamespace("kube-node-lease").list().getItems())
                    .noneMatch(lease -> lease.getMetadata().getName().startsWith(namespace));
        }
    }
}
