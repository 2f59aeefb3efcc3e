package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.micrometer.PrometheusScrape;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.PrometheusText;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Agents as parts of another program, with the identity of their nodes. */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@ExtendWith(NoLeaks.class)
class NodeAgentRealServerTest {

    /** Far more than a change takes on a busy machine, far less than {@link #SYNC_PERIOD}. */
    private static final Duration SOON = Duration.ofSeconds(5);

    private static final Duration SYNC_PERIOD = Duration.ofMinutes(10);

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final String namespace = real.createNamespaceLike("embedded");
    private final String name = namespace;
    private final KubernetesClient client = clientOf(name);
    private final Timekeeper timekeeper = Timekeeper.system();
    private final NotifyingRuntime runtime = new NotifyingRuntime(timekeeper);

    @AfterEach
    void tearDown() {
        client.close();
        timekeeper.close();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.nodes().withName(name).delete();
        admin.close();
    }

    private KubernetesClient clientOf(String node) {
        return new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    }

    private NodeAgentBuilder builder() {
        return NodeAgent.builder(client)
                .node(name)
                .runtime(runtime)
                .strategy(ChangeDetectionStrategy.WATCH)
                .syncFrequency(SYNC_PERIOD);
    }

    private boolean isReady(String node) {
        Node there = admin.nodes().withName(node).get();
        return there != null
                && there.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Ready")
                                && condition.getStatus().equals("True"));
    }

    private boolean isRunning(String pod) {
        return "Running"
                .equals(admin.pods()
                        .inNamespace(namespace)
                        .withName(pod)
                        .get()
                        .getStatus()
                        .getPhase());
    }

    private int port(String node) {
        return admin.nodes()
                .withName(node)
                .get()
                .getStatus()
                .getDaemonEndpoints()
                .getKubeletEndpoint()
                .getPort();
    }

    private void createPodWithVolume(String pod, String secret) {
        PodBuilder built = new PodBuilder(
                        Pods.withVolume(Pods.assigned(name, pod), secret).build())
                .editMetadata()
                .withNamespace(namespace)
                .endMetadata()
                .editSpec()
                .withAutomountServiceAccountToken(false)
                .endSpec();
        admin.resource(built.build()).create();
    }

    @Test
    void embedded_nodeIsReady_andTheAgentKnowsItsNodeItsPodsAndItsSecrets() {
        admin.resource(Secrets.of(namespace, "certs", "one")).create();
        try (NodeAgent agent = builder().withoutServer().build()) {
            agent.start();
            await().until(() -> isReady(name));
            createPodWithVolume("web", "certs");
            await().until(() -> isRunning("web"));

            assertThat(agent.status().registered()).isTrue();
            assertThat(agent.node())
                    .hasValueSatisfying(
                            node -> assertThat(node.getMetadata().getName()).isEqualTo(name));
            assertThat(agent.pods())
                    .extracting(pod -> pod.getMetadata().getName())
                    .containsExactly("web");
            assertThat(agent.caches().secrets().getObject(namespace, "certs").getData())
                    .containsKey("value");
            await().until(() -> agent.sinceRenewal().isPresent());
        }
    }

    @Test
    @ExpectedWarnings("the HTTPS endpoint of the node is at port ")
    void twoAgents_eachHasItsOwnNode_andTheSecondTakesAFreePort() {
        String second = name + "-b";
        try (NodeAgent first = builder().server(options -> options.port(0)).build()) {
            first.start();
            await().until(() -> isReady(name) && port(name) > 0);
            int taken = port(name);
            try (KubernetesClient other = clientOf(second);
                    NodeAgent agent = NodeAgent.builder(other)
                            .node(second)
                            .server(options -> options.port(taken))
                            .build()) {
                agent.start();
                // the agent's own watch may see the Node later than this test does
                await().until(() ->
                        isReady(second) && port(second) > 0 && agent.node().isPresent());

                assertThat(port(second)).isNotEqualTo(taken);
                assertThat(agent.node().orElseThrow().getMetadata().getName()).isEqualTo(second);
            }
            assertThat(first.status().registered()).isTrue();
            createPodWithVolume("web", "certs");
            admin.resource(Secrets.of(namespace, "certs", "one")).create();
            await().until(() -> isRunning("web"));
        } finally {
            admin.nodes().withName(second).delete();
        }
    }

    @Test
    @Needs({ServerFeature.KUBELET_CONNECTIONS, ServerFeature.RBAC})
    void metrics_throughTheApiServersNodeProxy_needTheRight(@TempDir Path folder) throws IOException {
        Path authority = folder.resolve("ca.crt");
        Files.write(authority, Base64.getDecoder().decode(real.config().getCaCertData()));
        String path = "/api/v1/nodes/" + name + "/proxy/metrics";
        try (NodeAgent agent = builder()
                        .scrape(PrometheusScrape::ofNode)
                        .server(options -> options.port(0).clientAuthority(authority))
                        .build();
                KubernetesClient nobody = real.clientFor("nobody", "no-group")) {
            agent.start();
            await().until(() ->
                    isReady(name) && port(name) > 0 && agent.sinceRenewal().isPresent());

            PrometheusText scraped = PrometheusText.parse(admin.raw(path));

            assertThat(scraped.value("podcache_node_registered", Map.of())).isEqualTo(1);
            assertThat(scraped.value("podcache_node_lease_renewals_total", Map.of("outcome", "succeeded")))
                    .isPositive();
            assertThat(catchThrowableOfType(KubernetesClientException.class, () -> nobody.raw(path))
                            .getCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void secretAppearsAndChanges_podRunsAndIsMountedAgain_longBeforeTheNextSync() {
        try (NodeAgent agent = builder().withoutServer().build()) {
            agent.start();
            await().until(() -> isReady(name));
            createPodWithVolume("web", "certs");
            await().until(
                            () -> admin
                                    .pods()
                                    .inNamespace(namespace)
                                    .withName("web")
                                    .get()
                                    .getStatus()
                                    .getContainerStatuses()
                                    .stream()
                                    .anyMatch(status -> status.getState().getWaiting() != null));

            admin.resource(Secrets.of(namespace, "certs", "one")).create();
            await().atMost(SOON).until(() -> isRunning("web"));
            assertThat(runtime.isMounted("web", "v-certs", "value", "one")).isTrue();

            admin.resource(Secrets.of(namespace, "certs", "two")).update();
            await().atMost(SOON).until(() -> runtime.isMounted("web", "v-certs", "value", "two"));
        }
    }
}
