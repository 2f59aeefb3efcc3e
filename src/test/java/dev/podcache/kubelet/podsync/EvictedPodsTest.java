package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods that the node ends to save itself, and pods that it does not admit. */
@ExtendWith(NoLeaks.class)
class EvictedPodsTest {

    private static final String MESSAGE = "The node was low on resource: memory. ";

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private CompletableFuture<Void> evict(Pod pod, int graceSeconds, boolean forPressure) {
        CompletableFuture<Void> ended = node.workers.evict(new Eviction(
                pod, "memory.available", MESSAGE, ImmutableMap.of(), Duration.ofSeconds(graceSeconds), forPressure));
        node.settle();
        return ended;
    }

    private static Optional<PodCondition> disruption(PodStatus status) {
        return status.getConditions().stream()
                .filter(condition -> condition.getType().equals("DisruptionTarget"))
                .findFirst();
    }

    @Test
    void evict_runningPod_isStoppedAndReportedAsUpstreamDoes() {
        node.start();
        Pod pod = node.create(pod("web"));
        CompletableFuture<Void> ended = evict(pod, 5, true);

        assertThat(ended).isCompleted();
        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web in 5");
        PodStatus status = node.status("web");
        assertThat(status.getPhase()).isEqualTo("Failed");
        assertThat(status.getReason()).isEqualTo("Evicted");
        assertThat(status.getMessage()).isEqualTo(MESSAGE);
        assertThat(disruption(status)).hasValueSatisfying(condition -> {
            assertThat(condition.getStatus()).isEqualTo("True");
            assertThat(condition.getReason()).isEqualTo("TerminationByKubelet");
            assertThat(condition.getMessage()).isEqualTo(MESSAGE);
            assertThat(condition.getLastTransitionTime()).isNotEmpty();
        });
        assertThat(node.exists("web")).isTrue();
    }

    @Test
    void evict_overALimit_hasNoDisruptionTarget() {
        node.start();
        evict(node.create(pod("web")), 1, false);
        assertThat(node.status("web").getReason()).isEqualTo("Evicted");
        assertThat(disruption(node.status("web"))).isEmpty();
        // what a container gets at least, as in a kubelet
        assertThat(node.runtime.calls).contains("stop web in 2");
    }

    @Test
    void evict_graceLongerThanThePods_isThePods() {
        node.start();
        evict(
                node.create(pod("web")
                        .editSpec()
                        .withTerminationGracePeriodSeconds(7L)
                        .endSpec()),
                60,
                true);
        assertThat(node.runtime.calls).contains("stop web in 7");
    }

    @Test
    void evict_later_theContainerIsNotStartedAgain() {
        node.start();
        evict(node.create(pod("web")), 1, true);
        node.timekeeper.advance(Duration.ofMinutes(10));
        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web in 2");
        assertThat(node.status("web").getPhase()).isEqualTo("Failed");
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void evict_stopFails_isRepeatedAndEndsThen() {
        node.start();
        Pod pod = node.create(pod("web"));
        node.runtime.duringStop = () -> {
            throw new IllegalStateException("for the test");
        };
        CompletableFuture<Void> ended = evict(pod, 5, true);
        assertThat(ended).isNotCompleted();
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(evict(pod, 5, true)).isSameAs(ended);

        node.runtime.duringStop = null;
        node.timekeeper.advance(Duration.ofSeconds(15));
        assertThat(ended).isCompleted();
        assertThat(node.status("web").getReason()).isEqualTo("Evicted");
    }

    @Test
    void evict_podIsGone_hasEndedAlready() {
        node.start();
        Pod pod = node.create(pod("web"));
        node.server.cluster().deleteNow(pod);
        node.settle();
        assertThat(evict(pod, 1, true)).isCompleted();
    }

    @Test
    void evict_podEndedBefore_keepsItsStatus() {
        node.start();
        Pod pod = node.create(pod("web"));
        evict(pod, 1, true);
        CompletableFuture<Void> again = node.workers.evict(
                new Eviction(pod, "memory.available", "another", ImmutableMap.of(), Duration.ofSeconds(1), true));
        node.settle();
        assertThat(again).isCompleted();
        assertThat(node.status("web").getMessage()).isEqualTo(MESSAGE);
    }

    @Test
    void rejection_newPod_isReportedAsUpstreamDoesAndNeverStarts() {
        node.admission = pod -> Optional.of(new PodRejection("Evicted", "The node had condition: [MemoryPressure]. "));
        node.start();
        node.create(pod("web"));
        node.timekeeper.advance(Duration.ofMinutes(2));

        PodStatus status = node.status("web");
        assertThat(status.getPhase()).isEqualTo("Failed");
        assertThat(status.getReason()).isEqualTo("Evicted");
        assertThat(status.getMessage()).isEqualTo("Pod was rejected: The node had condition: [MemoryPressure]. ");
        assertThat(status.getQosClass()).isEqualTo("BestEffort");
        assertThat(status.getContainerStatuses()).isEmpty();
        assertThat(status.getConditions()).isEmpty();
        assertThat(node.runtime.calls).isEmpty();
        assertThat(node.events.lines()).containsExactly("Warning Evicted The node had condition: [MemoryPressure]. ");
    }

    @Test
    void rejection_podThatRunsAlready_isNotAsked() {
        node.start();
        node.create(pod("web"));
        node.admission = pod -> Optional.of(new PodRejection("Evicted", "for the test"));
        node.timekeeper.advance(Duration.ofMinutes(2));
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        node.stop();
        try (WorkersFixture next = node.successorWithThisRuntime()) {
            next.admission = pod -> Optional.of(new PodRejection("Evicted", "for the test"));
            next.start();
            assertThat(next.status("web").getPhase()).isEqualTo("Running");
        }
    }
}
