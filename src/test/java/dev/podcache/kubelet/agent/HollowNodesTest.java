package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServedCluster;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many nodes in one process, on a server over HTTP. */
@ExtendWith(NoLeaks.class)
class HollowNodesTest {

    private static final int NODES = 60;

    private final ServedCluster served = new ServedCluster();
    private final InMemoryCluster cluster = served.cluster();

    @AfterEach
    void tearDown() {
        served.close();
    }

    private Pod create(PodBuilder pod) {
        return cluster.create(pod.build());
    }

    private PodStatus status(String pod) {
        return cluster.get(Pod.class, "shop", pod).getStatus();
    }

    @Test
    void nodes_registerAreReady_andRunPodsWithTheirSecrets() {
        try (HollowNodes hollow = HollowNodes.start(served.client(), NODES, new HollowTemplate())) {
            await().until(() -> hollow.ready() == NODES);
            Set<String> addresses = new HashSet<>();
            for (int i = 0; i < NODES; i++) {
                cluster.create(Secrets.of("shop", "secret-" + i, "value"));
                create(withSecret(Pods.assigned("hollow-" + i, "pod-" + i), "secret-" + i));
            }

            for (int i = 0; i < NODES; i++) {
                String pod = "pod-" + i;
                await().until(() -> "Running".equals(status(pod).getPhase()));
                addresses.add(status(pod).getPodIP());
                assertThat(status(pod).getHostIP()).startsWith("10.128.0.");
            }
            assertThat(addresses).hasSize(NODES);
            assertThat(hollow.running()).isEqualTo(NODES);
            assertThat(hollow.oldestRenewal()).isPresent();
            Node node = cluster.get(Node.class, "", "hollow-7");
            assertThat(node.getStatus().getCapacity()).containsEntry("pods", new Quantity("110"));
        }
    }

    @Test
    void secretAppears_podOfAnyNodeRuns() {
        try (HollowNodes hollow =
                HollowNodes.start(served.client(), 2, new HollowTemplate().strategy(ChangeDetectionStrategy.WATCH))) {
            create(withSecret(Pods.assigned("hollow-1", "web"), "db"));
            await().until(() -> !status("web").getContainerStatuses().isEmpty());

            cluster.create(Secrets.of("shop", "db", "value"));

            await().until(() -> "Running".equals(status("web").getPhase()));
            assertThat(hollow.running()).isEqualTo(1);
        }
    }

    @Test
    void stages_podsTakeTimeToStart_endOrFail() {
        HollowTemplate template = new HollowTemplate()
                .stages(List.of(
                        new HollowStage(Map.of("app", "slow"), Duration.ofMillis(300), Duration.ZERO, 0),
                        new HollowStage(Map.of("app", "fails"), Duration.ZERO, Duration.ofMillis(300), 7)));
        try (HollowNodes hollow = HollowNodes.start(served.client(), 1, template)) {
            await().until(() -> hollow.ready() == 1);
            create(labelled("slow"));
            create(labelled("fails").editSpec().withRestartPolicy("Never").endSpec());

            await().until(() -> "Running".equals(status("slow").getPhase()));
            await().until(() -> "Failed".equals(status("fails").getPhase()));
            assertThat(status("fails")
                            .getContainerStatuses()
                            .get(0)
                            .getState()
                            .getTerminated()
                            .getExitCode())
                    .isEqualTo(7);
        }
    }

    @Test
    void restart_nodesThatExist_goOn() {
        try (HollowNodes first = HollowNodes.start(served.client(), NODES, new HollowTemplate())) {
            await().until(() -> first.ready() == NODES);
            create(Pods.assigned("hollow-3", "web"));
            await().until(() -> "Running".equals(status("web").getPhase()));
        }
        String began = startedAt();

        try (HollowNodes second = HollowNodes.start(served.client(), NODES, new HollowTemplate())) {
            await().until(() -> second.ready() == NODES && second.running() == 1);
            await().until(() -> second.oldestRenewal().isPresent());
            assertThat(startedAt()).isEqualTo(began);
        }
    }

    @Test
    void restart_newPods_getOtherAddressesThanThePodsThatExist() {
        try (HollowNodes first = HollowNodes.start(served.client(), 1, new HollowTemplate())) {
            await().until(() -> first.ready() == 1);
            create(Pods.assigned("hollow-0", "web"));
            await().until(() -> "Running".equals(status("web").getPhase()));
        }
        // these are listed first, and have no address yet
        create(Pods.assigned("hollow-0", "a-1"));
        create(Pods.assigned("hollow-0", "a-2"));

        try (HollowNodes second = HollowNodes.start(served.client(), 1, new HollowTemplate())) {
            await().until(() -> second.running() == 3);
            create(Pods.assigned("hollow-0", "zz"));
            await().until(() -> second.running() == 4);
            await().until(() -> addresses("web", "a-1", "a-2", "zz").stream().noneMatch(Objects::isNull));

            assertThat(addresses("web", "a-1", "a-2", "zz")).doesNotHaveDuplicates();
        }
    }

    private List<@Nullable String> addresses(String... pods) {
        List<@Nullable String> addresses = new ArrayList<>();
        for (String pod : pods) {
            addresses.add(status(pod).getPodIP());
        }
        return addresses;
    }

    @Test
    void noNodes_areRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HollowNodes.start(served.client(), 0, new HollowTemplate()))
                .withMessage("the number of hollow nodes must be positive, but is 0");
    }

    private String startedAt() {
        return status("web")
                .getContainerStatuses()
                .get(0)
                .getState()
                .getRunning()
                .getStartedAt();
    }

    private static PodBuilder labelled(String app) {
        return Pods.assigned("hollow-0", app)
                .editMetadata()
                .addToLabels("app", app)
                .endMetadata();
    }

    private static PodBuilder withSecret(PodBuilder pod, String secret) {
        return pod.editSpec()
                .editFirstContainer()
                .addNewEnvFrom()
                .withNewSecretRef(secret, null)
                .endEnvFrom()
                .endContainer()
                .endSpec();
    }
}
