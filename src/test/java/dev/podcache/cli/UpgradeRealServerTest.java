package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an upgrade of a node agent does, and a rollback: the agent is told to end, and the next one starts with the same
 * node, the same credentials and the same folder of its runtime.
 */
@RealServerTest
@Needs({ServerFeature.SERVICES, ServerFeature.SERVICE_ACCOUNTS})
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class UpgradeRealServerTest {

    @TempDir
    private Path home;

    private ProcessNode machine;
    private RealNode node;

    @BeforeEach
    void startFirst() {
        machine = new ProcessNode(RealApiServer.shared(), home);
        node = machine.node;
        create("stays");
        machine.startAgent();
        awaitReady("stays");
    }

    @AfterEach
    void stopAll() {
        machine.close();
    }

    @Test
    void agentReplacedTwice_nodeAndLeaseKeepTheirIdentity_andNoContainerRestarts() throws Exception {
        Node first = node.node();
        Lease lease = node.lease();
        Pod pod = node.pod("stays");
        List<Long> processes = pids("stays");
        assertThat(processes).isNotEmpty();

        for (String round : List.of("upgrade", "rollback")) {
            assertThat(machine.stopAgent()).as(round).isZero();
            ZonedDateTime renewed = node.lease().getSpec().getRenewTime();
            // between the agents
            create(round);
            assertThat(pids("stays")).as(round).isEqualTo(processes);
            machine.startAgent();

            awaitReady(round);
            await().until(() -> node.lease().getSpec().getRenewTime().isAfter(renewed));
            assertThat(pids("stays")).as(round).isEqualTo(processes);
        }

        assertThat(node.node().getMetadata().getUid())
                .isEqualTo(first.getMetadata().getUid());
        assertThat(node.lease().getMetadata().getUid())
                .isEqualTo(lease.getMetadata().getUid());
        assertThat(container(node.pod("stays"))).isEqualTo(container(pod));
        assertThat(node.pod("stays").getMetadata().getResourceVersion())
                .as("no report was made again")
                .isEqualTo(pod.getMetadata().getResourceVersion());
    }

    /** Creates a pod with one process, which waits for a file that never comes. */
    private void create(String pod) {
        node.create(node.assigned(pod)
                .editSpec()
                .editFirstContainer()
                .withCommand("tail", "-F", home.resolve(pod).toString())
                .endContainer()
                .endSpec());
    }

    private List<Long> pids(String pod) {
        return machine.processesWith(" " + home.resolve(pod)).stream()
                .map(ProcessHandle::pid)
                .sorted()
                .toList();
    }

    private void awaitReady(String pod) {
        await().until(() -> {
            machine.agentErrors();
            return node.pod(pod).getStatus().getConditions().stream()
                    .anyMatch(condition -> condition.getType().equals("Ready")
                            && condition.getStatus().equals("True"));
        });
    }

    private static ContainerStatus container(Pod pod) {
        return pod.getStatus().getContainerStatuses().get(0);
    }
}
