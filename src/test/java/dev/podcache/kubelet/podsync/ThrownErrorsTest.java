package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** An Error of any port ends neither the syncs of a pod nor the close of the agent. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(NoLeaks.class)
class ThrownErrorsTest {

    private static final String SYNC_FAILED = "sync of pod shop/web failed; retrying";

    private final WorkersFixture node = new WorkersFixture();
    private final AtomicInteger thrown = new AtomicInteger();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private void failOnce(String port) {
        node.calling = called -> {
            if (called.equals(port) && thrown.getAndIncrement() == 0) {
                throw new OutOfMemoryError("of " + port);
            }
        };
    }

    /** Creates a pod, whose first sync meets the error, waits for the next syncs, and deletes the pod. */
    private void runAndEnd() {
        runAndEnd(true);
    }

    private void runAndEnd(boolean start) {
        if (start) {
            node.start();
            node.create(pod("web"));
        }
        pass(Duration.ofSeconds(40));
        assertThat(node.status("web").getPhase()).isEqualTo("Running");

        delete();
        node.workers.close();

        assertThat(node.runtime.calls).contains("start web/main", "forget web");
        assertThat(node.exists("web")).isFalse();
    }

    private void delete() {
        node.server.cluster().delete(node.server.cluster().get(Pod.class, "shop", "web"));
        pass(Duration.ofSeconds(90));
    }

    private void pass(Duration time) {
        for (long second = 0; second < time.toSeconds(); second++) {
            node.timekeeper.advance(Duration.ofSeconds(1));
        }
        node.settle();
    }

    private void assertThrown() {
        assertThat(thrown).hasPositiveValue();
    }

    @Test
    @ExpectedWarnings(SYNC_FAILED)
    void node_throwsAnError_podRunsAndEnds() {
        failOnce("node");
        runAndEnd();
        assertThrown();
    }

    @Test
    @ExpectedWarnings(SYNC_FAILED)
    void admission_throwsAnError_podRunsAndEnds() {
        node.admission = asked -> {
            if (thrown.getAndIncrement() == 0) {
                throw new NoClassDefFoundError("of admission");
            }
            return PodAdmission.ALL.rejection(asked);
        };
        runAndEnd();
        assertThrown();
    }

    @Test
    @ExpectedWarnings("the listener threw")
    void listener_throwsAnError_podRunsAndEnds() {
        failOnce("listener");
        runAndEnd();
        assertThrown();
    }

    @Test
    @ExpectedWarnings("full pass over the statuses of pods failed")
    void lookup_throwsAnError_podRunsAndEnds() {
        failOnce("known");
        runAndEnd();
        assertThrown();
    }

    @Test
    @ExpectedWarnings("report of the status of pod")
    void apiServer_throwsAnError_podRunsAndEnds() {
        failOnce("api");
        runAndEnd();
        assertThrown();
    }

    @Test
    @ExpectedWarnings({SYNC_FAILED, "mount volumes"})
    void events_throwAnError_podRunsAndEnds() {
        failOnce("events");
        node.runtime.onMount = new OutOfMemoryError("of mount");
        node.start();
        node.create(pod("web"));
        pass(Duration.ofSeconds(20));
        node.runtime.onMount = null;
        runAndEnd(false);
        assertThrown();
    }

    @Test
    @ExpectedWarnings("start container main")
    void runtimeStart_throwsErrors_podRunsAndEnds() {
        runAndEndAfter(() -> node.runtime.onStart = new StackOverflowError(), () -> node.runtime.onStart = null);
    }

    @Test
    @ExpectedWarnings(SYNC_FAILED)
    void runtimeStatus_throwsErrors_podRunsAndEnds() {
        runAndEndAfter(() -> node.runtime.onStatus = new OutOfMemoryError("x"), () -> node.runtime.onStatus = null);
    }

    @Test
    @ExpectedWarnings(SYNC_FAILED)
    void runtimeStop_throwsErrors_podEnds() {
        node.start();
        node.create(pod("web"));
        node.runtime.duringStop = () -> {
            node.runtime.duringStop = null;
            throw new NoClassDefFoundError("of stop");
        };

        runAndEnd(false);
    }

    private void runAndEndAfter(Runnable fail, Runnable mend) {
        fail.run();
        node.start();
        node.create(pod("web"));
        pass(Duration.ofSeconds(20));
        mend.run();
        runAndEnd(false);
    }
}
