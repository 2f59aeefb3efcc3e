package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A node whose runtime does not return from a call. The runtime's calls come from threads, the time is hand-driven: it passes
 * only while no thread has anything to do, because on a busy machine a thread that is late would look like a call that hangs.
 */
@ExtendWith(NoLeaks.class)
class HangingRuntimeTest {

    private static final Duration STEP = Duration.ofSeconds(1);
    private static final Duration MOMENT = Duration.ofMillis(1);
    private static final Duration NOT_READY_WITHIN = Duration.ofSeconds(30);

    private final AgentFixture fixture = new AgentFixture();
    private final NotifyingRuntime runtime = new NotifyingRuntime(fixture.timekeeper);

    private final ExecutorService pool = Executors.newCachedThreadPool();

    /** Tasks that were handed to a thread and have not ended. */
    private final AtomicInteger busy = new AtomicInteger();

    @AfterEach
    void tearDown() {
        runtime.release();
        fixture.close();
        pool.shutdown();
    }

    private void execute(Runnable task) {
        busy.incrementAndGet();
        pool.execute(() -> {
            try {
                task.run();
            } finally {
                busy.decrementAndGet();
            }
        });
    }

    private NodeAgent start() {
        NodeAgent agent = fixture.agent(options -> withThreads(options).runtime(runtime));
        agent.start();
        return agent;
    }

    private NodeAgentBuilder withThreads(NodeAgentBuilder options) {
        return options.threadsOf((limit, time) -> TaskThreads.on(this::execute, limit, time));
    }

    private static void requirePatience(long start) {
        assertThat(System.nanoTime() - start)
                .as("nanoseconds in vain")
                .isLessThan(TimeUnit.SECONDS.toNanos(Patience.SECONDS));
    }

    /** Lets time pass, once each thread hangs or waits for the time. */
    private void pass(Duration step) {
        for (long start = System.nanoTime(); busy.get() > runtime.hungCalls() + fixture.timekeeper.waiters(); ) {
            requirePatience(start);
            Thread.onSpinWait();
        }
        fixture.timekeeper.advance(step);
    }

    /** Starts an agent that computes its node's status so rarely that only a change can be the reason of a report. */
    private void startWithRareUpdates() {
        fixture.agent(options -> withThreads(options)
                        .runtime(runtime)
                        .statusPeriods(Duration.ofMinutes(1), Duration.ofMinutes(5)))
                .start();
        awaitReady("True");
    }

    /** Lets time pass, a second at each look. */
    private void awaitWhileTimePasses(BooleanSupplier condition) {
        awaitWhileTimePasses(STEP, condition);
    }

    private void awaitWhileTimePasses(Duration step, BooleanSupplier condition) {
        long start = System.nanoTime();
        do {
            requirePatience(start);
            pass(step);
        } while (!condition.getAsBoolean());
    }

    private void awaitNotReadyInTime_andReadyAtOnceAfterwards(String message) {
        awaitReady("False");
        assertThat(runtime.hangsFor()).isPositive().isLessThanOrEqualTo(NOT_READY_WITHIN);
        assertThat(ready().getReason()).isEqualTo("KubeletNotReady");
        assertThat(ready().getMessage()).contains(message);

        runtime.release();
        awaitWhileTimePasses(MOMENT, () -> fixture.ready().equals("True"));
    }

    private void awaitReady(String status) {
        awaitWhileTimePasses(() -> fixture.exists(Node.class, ObjectKey.of("", AgentFixture.NODE))
                && fixture.ready().equals(status));
    }

    private void awaitPhase(String pod, String phase) {
        awaitWhileTimePasses(() -> phase.equals(fixture.pod(pod).getStatus().getPhase()));
    }

    private NodeCondition ready() {
        return fixture.node().getStatus().getConditions().stream()
                .filter(condition -> "Ready".equals(condition.getType()))
                .findFirst()
                .orElseThrow();
    }

    private Instant renewed() {
        return fixture.lease().getSpec().getRenewTime().toInstant();
    }

    @Test
    void healthHangs_nodeSaysThatTheRuntimeIsDown_andItsLeaseIsRenewed() {
        start();
        awaitReady("True");

        runtime.hang("health");
        awaitReady("False");

        assertThat(ready().getReason()).isEqualTo("KubeletNotReady");
        assertThat(ready().getMessage()).contains("container runtime is down");
        Instant before = renewed();
        for (int second = 0; second < 11; second++) {
            pass(STEP);
        }
        assertThat(renewed()).isAfter(before);

        runtime.release();
        awaitReady("True");
    }

    @Test
    void healthHangsFromTheBeginning_nodeIsRegisteredAndNotReady_untilItReturns() {
        runtime.hang("health");
        start();
        awaitReady("False");

        assertThat(fixture.lease().getSpec().getHolderIdentity()).isEqualTo(AgentFixture.NODE);

        runtime.release();
        awaitReady("True");
    }

    @Test
    void startOfOnePodHangs_thatPodSaysSo_andOthersRun(NoLeaks leaks) {
        leaks.allowWarnings("start of container main has not returned for 30 s");
        fixture.createPods(12);
        runtime.hang("start web-3");
        start();

        for (int i = 0; i < 12; i++) {
            if (i != 3) {
                awaitPhase("web-" + i, "Running");
            }
        }
        awaitWhileTimePasses(() -> responding("web-3").equals("False"));
        awaitWhileTimePasses(() -> fixture.server.sent().stream()
                .anyMatch(sent ->
                        sent.kind().equals(ObjectKind.EVENT) && sent.body().contains("RuntimeNotResponding")));
        assertThat(fixture.pod("web-3").getStatus().getPhase()).isEqualTo("Pending");
        assertThat(fixture.ready()).isEqualTo("True");

        runtime.release();
        awaitPhase("web-3", "Running");
        awaitWhileTimePasses(() -> responding("web-3").equals("True"));
    }

    @Test
    void listOfPodsHangs_statusIsRarelyComputed_nodeIsNotReadyWithin30s() {
        runtime.hang("pods");
        startWithRareUpdates();

        awaitNotReadyInTime_andReadyAtOnceAfterwards(
                "the list of the runtime's pods is not healthy: PodRuntime.pods() has not returned for 15 s");
    }

    @Test
    void statisticsHang_statusIsRarelyComputed_nodeIsNotReadyWithin30s(NoLeaks leaks) {
        leaks.allowWarnings("has not returned the usage of its pods for 10 s");
        startWithRareUpdates();

        runtime.hang("usage");

        awaitNotReadyInTime_andReadyAtOnceAfterwards(
                "the measurement of the runtime's pods is not healthy: ContainerStatistics has not returned for 15 s");
    }

    @Test
    void healthHangs_statusIsRarelyComputed_nodeIsNotReadyWithin30s() {
        startWithRareUpdates();

        runtime.hang("health");

        awaitNotReadyInTime_andReadyAtOnceAfterwards("container runtime is down");
    }

    private String responding(String pod) {
        PodStatus status = fixture.pod(pod).getStatus();
        return status.getConditions().stream()
                .filter(condition -> condition.getType().equals("podcache.dev/RuntimeResponding"))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("none");
    }
}
