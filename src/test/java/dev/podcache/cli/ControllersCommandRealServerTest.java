package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code controllers} with hollow nodes on a kube-apiserver of its own; minutes are seconds here. */
@RealServerTest
@Needs({ServerFeature.SERVICES, ServerFeature.RBAC})
@ExtendWith(NoLeaks.class)
class ControllersCommandRealServerTest {

    private static final Duration PERIOD = Duration.ofMillis(500);
    private static final Duration GRACE = Duration.ofSeconds(6);
    private static final HollowTemplate TEMPLATE =
            new HollowTemplate().leaseDuration(Duration.ofSeconds(4)).statusReport(Duration.ofSeconds(10));

    /** The machine may be busy. Less than the default grace period of 50 s. */
    private static final Duration SLACK = Duration.ofSeconds(20);

    /** Starts the controllers with the permissions of the manifest, and no others. */
    private static CommandRun controllers(RealApiServer real, KubernetesClient admin) throws IOException {
        try (InputStream manifest = Files.newInputStream(Path.of("deploy/rbac-controllers.yaml"))) {
            admin.load(manifest).create();
        }
        return CommandRun.start(
                "controllers",
                real.kubeconfigFor("system:serviceaccount:kube-system:podcache-controllers", "system:authenticated"),
                "--node-monitor-period",
                PERIOD.toMillis() + "ms",
                "--node-monitor-grace-period",
                GRACE.toSeconds() + "s",
                "--kube-api-qps",
                "500",
                "--kube-api-burst",
                "500");
    }

    private static KubernetesClient through(TcpProxy proxy, RealApiServer real) {
        Config config = real.config();
        config.setMasterUrl("https://127.0.0.1:" + proxy.port() + "/");
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    private static Pod podOn(String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(1L)
                .addNewContainer()
                .withName("main")
                .withImage("hollow")
                .endContainer()
                .endSpec()
                .build();
    }

    @Test
    void frozenNode_isNotReadyForKubectlInTime_itsPodIsDeleted_andItIsReadyAfterItThaws(NoLeaks leaks)
            throws Exception {
        // the agent of the frozen node says that it cannot renew its Lease
        leaks.allowWarnings("frozen-0 ");
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings(" did not answer a ping for ");
        try (RealApiServer real = RealApiServer.start(
                        "--default-not-ready-toleration-seconds=2", "--default-unreachable-toleration-seconds=2");
                KubernetesClient admin = real.client();
                TcpProxy proxy = TcpProxy.to(URI.create(real.url()).getPort());
                KubernetesClient frozen = through(proxy, real);
                HollowNodes alive = HollowNodes.start(admin, 3, TEMPLATE.prefix("alive-"));
                CommandRun run = controllers(real, admin)) {
            await().until(() -> alive.ready() == 3);
            try (HollowNodes one = HollowNodes.start(frozen, 1, TEMPLATE.prefix("frozen-"))) {
                await().until(() -> one.ready() == 1);
                admin.resource(podOn("frozen-0")).create();
                await().until(() -> TestPods.status(pod(admin), "Ready").equals("True"));

                proxy.freeze();
                long frozenAt = System.nanoTime();
                await().until(() -> shown(real).equals("NotReady"));
                Duration detection = Duration.ofNanos(System.nanoTime() - frozenAt);

                // a renewal was due within 1.04 s of the freeze
                assertThat(detection)
                        .isBetween(
                                GRACE.minusMillis(1_100),
                                GRACE.plus(PERIOD.multipliedBy(2)).plus(SLACK));
                assertThat(node(admin).getStatus().getConditions())
                        .filteredOn(condition -> condition.getType().equals("Ready"))
                        .singleElement()
                        .satisfies(condition -> {
                            assertThat(condition.getReason()).isEqualTo("NodeStatusUnknown");
                            assertThat(condition.getMessage()).isEqualTo("Kubelet stopped posting node status.");
                        });
                await().until(() -> TestPods.status(pod(admin), "Ready").equals("False"));
                await().until(() -> TestNodes.taints(node(admin))
                        .containsAll(List.of("unreachable:NoSchedule", "unreachable:NoExecute")));
                await().until(() -> pod(admin).getMetadata().getDeletionTimestamp() != null);
                assertThat(TestPods.status(pod(admin), "DisruptionTarget")).isEqualTo("True");
                assertThat(run.says("Marking for deletion Pod default/web")).isTrue();

                proxy.thaw();
                await().until(() -> shown(real).equals("Ready"));
                await().until(() -> TestNodes.taints(node(admin)).isEmpty());
                await().until(() -> pod(admin) == null);
                assertThat(admin.nodes().list().getItems())
                        .allMatch(each -> TestNodes.status(each, "Ready").equals("True"));
            }
            assertThat(run.stop()).isZero();
        }
    }

    private static Node node(KubernetesClient admin) {
        return admin.nodes().withName("frozen-0").get();
    }

    /** Returns the status of the frozen node as {@code kubectl get nodes} shows it. */
    private static String shown(RealApiServer real) {
        return real.kubectl("get", "nodes", "--no-headers")
                .lines()
                .map(line -> line.split(" +"))
                .filter(columns -> columns[0].equals("frozen-0"))
                .map(columns -> columns[1])
                .collect(Collectors.joining(","));
    }

    private static Pod pod(KubernetesClient admin) {
        return admin.pods().inNamespace("default").withName("web").get();
    }

    @Test
    void hundredAndOneNodes_getATtlOf15Seconds() throws Exception {
        try (RealApiServer real = RealApiServer.start();
                KubernetesClient admin = real.client();
                CommandRun run = controllers(real, admin);
                HollowNodes first = HollowNodes.start(admin, 100, TEMPLATE.prefix("many-"))) {
            await().until(() -> first.ready() == 100);
            await().until(() -> ttls(admin, "0") == 100);

            try (HollowNodes last = HollowNodes.start(admin, 1, TEMPLATE.prefix("last-"))) {
                await().until(() -> last.ready() == 1);
                await().until(() -> ttls(admin, "15") == 101);
            }
            assertThat(run.stop()).isZero();
        }
    }

    private static long ttls(KubernetesClient admin, String ttl) {
        return admin.nodes().list().getItems().stream()
                .filter(node -> ttl.equals(node.getMetadata().getAnnotations().get(NodeTtlSource.ANNOTATION)))
                .count();
    }
}
