package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Calls of the runtime that throw without an effect on the pod's status: events show why. */
@ExtendWith(NoLeaks.class)
class RuntimeFailureEventsTest {

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private void retry() {
        node.timekeeper.advance(Duration.ofSeconds(15));
        node.settle();
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void statusFailsTwice_oneEventSaysWhy() {
        node.start();
        node.runtime.onStatus = new StackOverflowError();
        node.create(pod("web"));
        retry();

        assertThat(node.events.lines())
                .containsExactly("Warning FailedSync error determining status: StackOverflowError");
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void stopOfADeletedPodFails_eventSaysWhy_andTheStopIsRepeated() {
        node.start();
        Pod web = node.create(pod("web"));
        node.runtime.duringStop = () -> {
            throw new IllegalStateException("busy");
        };
        node.server.cluster().delete(web);
        node.settle();
        assertThat(node.events.lines()).contains("Warning FailedKillPod error killing pod: busy");

        node.runtime.duringStop = null;
        retry();

        assertThat(node.runtime.calls).endsWith("forget web");
    }
}
