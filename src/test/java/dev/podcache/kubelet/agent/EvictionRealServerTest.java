package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.FakeHost;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.object.PodKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A node whose memory runs short, as its machine says. Everything else is real: the server, the pods, their processes. */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class EvictionRealServerTest {

    private static final long GI = 1L << 30;

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("evicted");
    private final String node = "node-of-" + namespace;
    private final String urgent = namespace + "-urgent";
    private final KubernetesClient admin = real.client();
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    private final FakeHost host = new FakeHost();
    private final List<String> ended = new CopyOnWriteArrayList<>();

    @BeforeEach
    void setUp() {
        host.addresses = List.of(InetAddresses.forString("192.0.2.7"));
        host.defaultRoutes = host.addresses;
        host.memory = Optional.of(new Supply(8 * GI, 6 * GI));
        host.bytes = Optional.of(new Supply(100 * GI, 60 * GI));
        admin.resource(new PriorityClassBuilder()
                        .withNewMetadata()
                        .withName(urgent)
                        .endMetadata()
                        .withValue(1000)
                        .build())
                .create();
    }

    @AfterEach
    void tearDown() throws Exception {
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = runtime(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        }
        own.close();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.nodes().withName(node).delete();
        admin.scheduling().v1().priorityClasses().withName(urgent).delete();
        admin.close();
    }

    private ProcessRuntime runtime(Timekeeper timekeeper) {
        return ProcessRuntime.in(home.resolve("runtime"), timekeeper);
    }

    private final class EndedPods implements PodListener {

        @Override
        public void synced(Pod pod, PodStatus status) {}

        @Override
        public void ended(Pod pod) {
            ended.add(pod.getMetadata().getName());
        }
    }

    private NodeAgent agent() {
        return NodeAgent.builder(own)
                .node(node)
                .facts(host)
                .runtime(this::runtime)
                .listener(new EndedPods())
                .eviction(EvictionOptions.defaults()
                        .withHard(EvictionThresholds.parse(Map.of("memory.available", "1Gi"))))
                .withoutServer()
                .build();
    }

    private void create(String name, String priorityClass, String request) {
        admin.resource(new PodBuilder(Pods.assigned(node, name).build())
                        .editMetadata()
                        .withNamespace(namespace)
                        .endMetadata()
                        .editSpec()
                        .withAutomountServiceAccountToken(false)
                        .withPriorityClassName(priorityClass.isEmpty() ? null : priorityClass)
                        .editFirstContainer()
                        .withCommand("sh", "-c", "exec sleep 600")
                        .withNewResources()
                        .addToRequests(request.isEmpty() ? Map.of() : Map.of("memory", new Quantity(request)))
                        .endResources()
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    private PodStatus status(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod).get().getStatus();
    }

    private boolean isUnderPressure() {
        Node current = admin.nodes().withName(node).get();
        return current.getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("MemoryPressure")
                        && condition.getStatus().equals("True"));
    }

    @Test
    void memoryRunsShort_podsAreEvictedInUpstreamsOrder_criticalOnesStay_newOnesAreRefused() {
        try (NodeAgent agent = agent()) {
            agent.start();
            create("requests-more", "", "2Gi");
            create("urgent", urgent, "");
            create("critical", "system-node-critical", "");
            create("best-effort", "", "");
            List<String> all = List.of("requests-more", "urgent", "critical", "best-effort");
            await().until(() ->
                    all.stream().allMatch(pod -> "Running".equals(status(pod).getPhase())));

            host.memory = Optional.of(new Supply(8 * GI, GI / 2));
            await().until(() -> "Evicted".equals(status("requests-more").getReason()));

            assertThat(ended).containsExactly("best-effort", "urgent", "requests-more");
            assertThat(status("critical").getPhase()).isEqualTo("Running");
            PodStatus first = status("best-effort");
            assertThat(first.getPhase()).isEqualTo("Failed");
            assertThat(first.getMessage())
                    .startsWith("The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. "
                            + "Container main was using ")
                    .endsWith(", request is 0, has larger consumption of memory. ");
            assertThat(first.getConditions())
                    .filteredOn(condition -> condition.getType().equals("DisruptionTarget"))
                    .extracting(condition -> condition.getStatus() + " " + condition.getReason())
                    .containsExactly("True TerminationByKubelet");
            assertThat(first.getContainerStatuses().get(0).getState().getTerminated())
                    .isNotNull();
            await().until(this::isUnderPressure);

            create("late", "", "");
            await().until(() -> "Evicted".equals(status("late").getReason()));
            assertThat(status("late").getMessage())
                    .isEqualTo("Pod was rejected: The node had condition: [MemoryPressure]. ");
            await().until(() -> admin.v1().events().inNamespace(namespace).list().getItems().stream()
                            .filter(event -> "Evicted".equals(event.getReason()))
                            .filter(event -> "memory"
                                    .equals(event.getMetadata().getAnnotations().get("starved_resource")))
                            .count()
                    == 3);
        }
    }
}
