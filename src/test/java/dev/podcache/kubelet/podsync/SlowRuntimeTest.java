package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.testing.Pods.withVolume;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls of the runtime that take long, with one sync at a time. */
@Timeout(60)
@ExtendWith(NoLeaks.class)
class SlowRuntimeTest {

    private static final Duration LONG_CALL = Duration.ofMillis(100);

    private final CountedThreads threads = new CountedThreads();
    private final WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT.on(threads, 1));

    @AfterEach
    void tearDown() {
        node.close();
    }

    private void start() throws InterruptedException {
        node.start();
        threads.awaitRunning(0);
    }

    private Pod createAndAwait(PodBuilder pod, FlakyRuntime.Held call) throws InterruptedException {
        Pod created = node.create(pod);
        call.awaitCall();
        node.settle();
        return created;
    }

    private void runAll() throws InterruptedException {
        threads.awaitRunning(0);
        node.settle();
        threads.awaitRunning(0);
        node.settle();
    }

    @Test
    void startTakesLong_podIsReportedBefore() throws Exception {
        start();
        FlakyRuntime.Held call = node.runtime.hold("start slow/main");
        createAndAwait(pod("slow"), call);

        assertThat(node.status("slow").getPhase()).isEqualTo("Pending");
        assertThat(node.waiting("slow", "main")).startsWith("ContainerCreating");
        assertThat(node.status("slow").getStartTime()).isNotNull();
        call.release();
        runAll();
        assertThat(node.status("slow").getPhase()).isEqualTo("Running");
    }

    @Test
    void startTakesLong_otherPodsRun() throws Exception {
        start();
        FlakyRuntime.Held first = node.runtime.hold("start slow-1/main");
        FlakyRuntime.Held second = node.runtime.hold("mount slow-2");
        createAndAwait(pod("slow-1"), first);
        node.timekeeper.advance(LONG_CALL);
        createAndAwait(pod("slow-2"), second);
        node.create(pod("web"));

        node.timekeeper.advance(LONG_CALL);
        threads.awaitRunning(2);
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        first.release();
        second.release();
        runAll();
    }

    /** The reads of objects once occupied all places: behind a slow server, no container was restarted or stopped. */
    @Test
    void secretsAreReadSlowly_otherPodsRunAndStop() throws Exception {
        start();
        Pod web = node.create(pod("web"));
        runAll();
        node.secret("db", "one");
        HeldRequests slowSecret =
                node.server.faults().hold(RequestPattern.any().verb(Verb.LIST).namespace("shop"));
        node.create(WorkersFixture.withEnvFrom(pod("waits-for-variables"), "db"));
        threads.awaitWaiting(1);
        node.create(withVolume(pod("waits-for-files"), "db"));
        node.timekeeper.advance(LONG_CALL);
        threads.awaitWaiting(2);
        node.server.cluster().delete(web);

        node.timekeeper.advance(LONG_CALL);
        threads.awaitRunning(2);
        node.settle();

        assertThat(node.exists("web")).isFalse();
        slowSecret.release();
        runAll();
    }

    @Test
    void deletedDuringStart_startIsInterrupted_andThePodEnds() throws Exception {
        start();
        FlakyRuntime.Held call = node.runtime.hold("start slow/main");
        Pod slow = createAndAwait(pod("slow"), call);

        node.server.cluster().delete(slow);
        runAll();

        assertThat(node.exists("slow")).isFalse();
        assertThat(node.runtime.calls).startsWith("start slow/main").endsWith("forget slow");
        assertThat(node.events.lines()).noneMatch(line -> line.startsWith("Warning"));
    }

    @Test
    void deletedDuringMount_noContainerStarts() throws Exception {
        start();
        FlakyRuntime.Held call = node.runtime.hold("mount slow");
        Pod slow = createAndAwait(pod("slow"), call);

        node.server.cluster().delete(slow);
        runAll();

        assertThat(node.exists("slow")).isFalse();
        assertThat(node.runtime.calls).noneMatch(each -> each.startsWith("start"));
    }

    @Test
    void gracePeriodIsShortened_stopIsInterruptedAndRepeatedWithTheShorterOne() throws Exception {
        start();
        Pod web = node.create(pod("web"));
        runAll();
        FlakyRuntime.Held call = node.runtime.hold("stop web");
        node.server.cluster().delete(web);
        call.awaitCall();

        Pod hurried = new PodBuilder(node.server.cluster().get(Pod.class, "shop", "web"))
                .editMetadata()
                .withDeletionGracePeriodSeconds(5L)
                .endMetadata()
                .build();
        node.assigned.upsert(new Fetched<>(hurried, "99", 0));
        runAll();

        assertThat(node.runtime.calls).containsSubsequence("stop web in 30", "stop web in 5");
        assertThat(node.exists("web")).isFalse();
    }

    @Test
    void forcedDeletionDuringStop_stopIsInterruptedAndRepeatedWithoutGrace() throws Exception {
        start();
        Pod web = node.create(pod("web"));
        runAll();
        FlakyRuntime.Held call = node.runtime.hold("stop web");
        node.server.cluster().delete(web);
        call.awaitCall();

        node.server.cluster().deleteNow(web);
        runAll();

        assertThat(node.runtime.calls).endsWith("stop web in 2", "forget web");
        assertThat(node.known.all()).isEmpty();
    }

    @Test
    @ExpectedWarnings(
            "pod shop/slow: start of container main has not returned for 30 s; waiting for it; other pods continue")
    void callHangs_eventAndConditionSaySo_untilItReturns() throws Exception {
        start();
        FlakyRuntime.Held call = node.runtime.hold("start slow/main");
        createAndAwait(pod("slow"), call);

        node.timekeeper.advance(Duration.ofSeconds(30));
        node.settle();

        assertThat(node.events.lines())
                .containsExactly(
                        "Warning RuntimeNotResponding start of container main has not returned for 30 s;" + " waiting");
        assertThat(responding("slow").getStatus()).isEqualTo("False");
        assertThat(responding("slow").getMessage()).isEqualTo("start of container main has not returned for 30 s");

        call.release();
        runAll();

        assertThat(node.status("slow").getPhase()).isEqualTo("Running");
        assertThat(responding("slow").getStatus()).isEqualTo("True");
    }

    @Test
    @ExpectedWarnings("pod shop/slow: status has not returned for 30 s")
    void firstStatusHangs_podIsReportedNevertheless() throws Exception {
        start();
        FlakyRuntime.Held call = node.runtime.hold("status slow");
        createAndAwait(pod("slow"), call);

        node.timekeeper.advance(Duration.ofSeconds(30));
        node.settle();

        assertThat(responding("slow").getStatus()).isEqualTo("False");
        call.release();
        runAll();
        assertThat(node.status("slow").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings("pod shop/web: status has not returned for 30 s")
    void firstStatusHangsAfterARestart_statusAtTheServerStays() throws Exception {
        start();
        node.create(pod("web"));
        runAll();
        PodStatus before = node.status("web");
        node.stop();

        try (WorkersFixture next = node.successor()) {
            FlakyRuntime.Held call = next.runtime.hold("status web");
            next.start();
            call.awaitCall();
            next.timekeeper.advance(Duration.ofSeconds(30));
            next.settle();

            PodStatus hanging = next.status("web");
            call.release();
            runAll();
            assertThat(hanging.getPhase()).isEqualTo("Running");
            assertThat(hanging.getContainerStatuses()).isEqualTo(before.getContainerStatuses());
            assertThat(hanging.getConditions())
                    .containsAll(before.getConditions())
                    .filteredOn(condition -> condition.getType().equals("podcache.dev/RuntimeResponding"))
                    .extracting(PodCondition::getStatus)
                    .containsExactly("False");
            assertThat(responding("web").getStatus()).isEqualTo("True");
        }
    }

    @Test
    void gracePeriodIsLongerThan30Seconds_stopDoesNotHang() throws Exception {
        start();
        Pod web = node.create(
                pod("web").editSpec().withTerminationGracePeriodSeconds(60L).endSpec());
        runAll();
        FlakyRuntime.Held call = node.runtime.hold("stop web");
        node.server.cluster().delete(web);
        call.awaitCall();

        node.timekeeper.advance(Duration.ofSeconds(59));
        call.release();
        runAll();

        assertThat(node.events.lines()).noneMatch(line -> line.contains("RuntimeNotResponding"));
    }

    @Test
    void changesDuringACall_causeOneSyncAfterIt() throws Exception {
        node.secret("certs", "one");
        start();
        FlakyRuntime.Held call = node.runtime.hold("mount web");
        createAndAwait(withVolume(pod("web"), "certs"), call);

        for (String value : new String[] {"two", "three", "four"}) {
            node.server.cluster().update(dev.podcache.testing.Secrets.of("shop", "certs", value));
        }
        call.release();
        runAll();

        assertThat(node.runtime.mounted("v-certs", "value")).isEqualTo("four");
        assertThat(node.runtime.calls).containsExactly("start web/main");
    }

    private PodCondition responding(String pod) {
        return node.status(pod).getConditions().stream()
                .filter(condition -> condition.getType().equals("podcache.dev/RuntimeResponding"))
                .findFirst()
                .orElseThrow();
    }
}
