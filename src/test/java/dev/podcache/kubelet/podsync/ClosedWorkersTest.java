package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The end of the workers while syncs run: no call of the runtime that changes anything begins after it. */
@Timeout(60)
@ExtendWith(NoLeaks.class)
class ClosedWorkersTest {

    private final CountedThreads threads = new CountedThreads();
    private final WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT.on(threads, 8));

    @AfterEach
    void tearDown() {
        node.close();
    }

    private static PodBuilder withTwoContainers(String name) {
        return pod(name)
                .editSpec()
                .addNewContainer()
                .withName("other")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    private static PodBuilder withSidecar(String name) {
        return pod(name)
                .editSpec()
                .addToInitContainers(new ContainerBuilder()
                        .withName("mesh")
                        .withImage("proxy")
                        .withRestartPolicy("Always")
                        .build())
                .endSpec();
    }

    private Pod run(PodBuilder pod) throws InterruptedException {
        node.start();
        Pod created = node.create(pod);
        threads.awaitRunning(0);
        node.runtime.calls.clear();
        return created;
    }

    @Test
    void closedDuringAStart_itIsInterrupted_andNoOtherContainerStarts() throws Exception {
        node.start();
        FlakyRuntime.Held start = node.runtime.hold("start web/main");
        node.create(withTwoContainers("web"));
        start.awaitCall();

        node.workers.close();
        start.release();
        threads.awaitRunning(0);

        assertThat(node.runtime.calls).containsExactly("start web/main");
        assertThat(node.events.lines()).isEmpty();
    }

    @Test
    void closedDuringAMount_noContainerStarts() throws Exception {
        node.start();
        FlakyRuntime.Held mount = node.runtime.hold("mount web");
        node.create(pod("web"));
        mount.awaitCall();

        node.workers.close();
        mount.release();
        threads.awaitRunning(0);

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void closedDuringAStop_sidecarsGoOn() throws Exception {
        Pod web = run(withSidecar("web"));
        FlakyRuntime.Held main = node.runtime.hold("stop web/main");
        node.server.cluster().delete(web);
        main.awaitCall();

        node.workers.close();
        main.release();
        threads.awaitRunning(0);

        assertThat(node.runtime.calls).containsExactly("stop web/main in 30");
        assertThat(node.exists("web")).isTrue();
    }

    @Test
    @ExpectedWarnings("a call of the runtime has not returned 10 s after its interrupt")
    void callIgnoresTheInterrupt_closeWaitsTenSeconds_andNothingBeginsLater() throws Exception {
        node.start();
        FlakyRuntime.Held status = node.runtime.hold("status web");
        node.create(pod("web"));
        status.awaitCall();

        CompletableFuture<Void> closed = CompletableFuture.runAsync(node.workers::close, NewThread.EACH);
        node.timekeeper.awaitWaiters(1);
        node.timekeeper.advance(Duration.ofSeconds(9));
        assertThat(closed).isNotDone();
        node.timekeeper.advance(Duration.ofSeconds(1));
        closed.join();
        status.release();
        threads.awaitRunning(0);

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void callIgnoresTheInterrupt_closeReturnsWhenItEnds() throws Exception {
        node.start();
        FlakyRuntime.Held status = node.runtime.hold("status web");
        node.create(pod("web"));
        status.awaitCall();

        CompletableFuture<Void> closed = CompletableFuture.runAsync(node.workers::close, NewThread.EACH);
        node.timekeeper.awaitWaiters(1);
        status.release();
        closed.join();

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void closedByAListenerOfASync_doesNotWaitForThatSync() throws Exception {
        node.reported = (pod, status) -> node.workers.close();
        node.start();

        node.create(pod("web"));
        threads.awaitRunning(0);

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void closedTwice_secondCallerDoesNotWait() throws Exception {
        node.start();
        FlakyRuntime.Held status = node.runtime.hold("status web");
        node.create(pod("web"));
        status.awaitCall();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(node.workers::close, NewThread.EACH);
        node.timekeeper.awaitWaiters(1);

        node.workers.close();

        status.release();
        closed.join();
    }
}
