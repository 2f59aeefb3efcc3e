package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.ContainerResize;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A pod whose CPU or memory is changed while it runs. */
@ExtendWith(NoLeaks.class)
class PodResizeTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private @Nullable WorkersFixture node;

    /** A runtime that resizes. */
    private static final class ResizingRuntime extends FlakyRuntime implements ContainerResize {

        final List<String> resizes = new CopyOnWriteArrayList<>();

        @Nullable
        IOException failure;

        ResizingRuntime(HollowRuntime runtime) {
            super(runtime);
        }

        @Override
        public void resize(Pod pod, Container container) throws IOException {
            resizes.add(container.getName() + " " + cpu(container));
            if (failure != null) {
                throw failure;
            }
        }
    }

    private WorkersFixture start(FlakyRuntime runtime) {
        WorkersFixture started = WorkersFixture.on(WorkersFixture.Options.DEFAULT, timekeeper, runtime);
        node = started;
        started.start();
        started.create(withCpu(pod("web"), "1"));
        return started;
    }

    @AfterEach
    void tearDown() {
        Objects.requireNonNull(node).close();
    }

    private static String cpu(Container container) {
        return String.valueOf(container.getResources().getRequests().get("cpu"));
    }

    private static PodBuilder withCpu(PodBuilder pod, String cpu) {
        return pod.editSpec()
                .editFirstContainer()
                .editOrNewResources()
                .addToRequests("cpu", new Quantity(cpu))
                .endResources()
                .endContainer()
                .endSpec();
    }

    private void change(PodBuilder pod) {
        WorkersFixture at = Objects.requireNonNull(node);
        at.server.cluster().update(pod.build());
        at.settle();
    }

    private PodBuilder stored() {
        return new PodBuilder(Objects.requireNonNull(node).server.cluster().get(Pod.class, "shop", "web"));
    }

    private String reported() {
        return String.valueOf(Objects.requireNonNull(node)
                .container("web", "main")
                .getResources()
                .getRequests()
                .get("cpu"));
    }

    private @Nullable String condition(String type) {
        return Objects.requireNonNull(node).status("web").getConditions().stream()
                .filter(condition -> condition.getType().equals(type))
                .map(PodResizeTest::text)
                .findFirst()
                .orElse(null);
    }

    private static String text(PodCondition condition) {
        return condition.getStatus() + " " + condition.getReason() + ": " + condition.getMessage();
    }

    @Test
    void runtimeCannotResize_isInfeasible_andTheContainerKeepsWhatItHas_alsoWhenItIsRestarted() throws Exception {
        WorkersFixture at = start(new FlakyRuntime(new HollowRuntime(timekeeper)));
        assertThat(reported()).isEqualTo("1");

        change(withCpu(stored(), "2"));

        String infeasible = "In-place pod resize is not supported by runtime hollow of this node";
        assertThat(condition("PodResizePending")).isEqualTo("True Infeasible: " + infeasible);
        assertThat(reported()).isEqualTo("1");
        assertThat(at.lines()).containsExactly("Warning ResizeInfeasible Pod resize Infeasible: " + infeasible);
        assertThat(at.status("web").getPhase()).isEqualTo("Running");
        assertThat(at.runtime.calls).containsExactly("start web/main");

        at.runtime.stopPod(PodReferences.key(stored().build()), Duration.ZERO);
        at.workers.changed(stored().buildMetadata().getUid());
        at.settle();
        assertThat(at.container("web", "main").getRestartCount()).isEqualTo(1);
        assertThat(reported()).isEqualTo("1");

        change(withCpu(stored(), "1000m"));
        assertThat(condition("PodResizePending")).isNull();
    }

    @Test
    void agentRestarts_resizeStaysInfeasible() {
        start(new FlakyRuntime(new HollowRuntime(timekeeper)));
        change(withCpu(stored(), "2"));
        WorkersFixture first = Objects.requireNonNull(node);
        first.stop();

        try (WorkersFixture next = first.successorWithThisRuntime()) {
            next.start();

            assertThat(condition("PodResizePending")).startsWith("True Infeasible");
            assertThat(reported()).isEqualTo("1");
        }
    }

    @Test
    void agentRestarts_resizeOfAContainerWithoutResourcesStaysInfeasible() {
        WorkersFixture first = WorkersFixture.on(
                WorkersFixture.Options.DEFAULT, timekeeper, new FlakyRuntime(new HollowRuntime(timekeeper)));
        node = first;
        first.start();
        first.create(withCpu(pod("web"), "1")
                .editSpec()
                .addNewContainer()
                .withName("side")
                .withNewResources()
                .endResources()
                .endContainer()
                .endSpec());
        change(stored().editSpec()
                .editLastContainer()
                .editResources()
                .addToRequests("cpu", new Quantity("2"))
                .endResources()
                .endContainer()
                .endSpec());
        assertThat(condition("PodResizePending")).startsWith("True Infeasible");
        first.stop();

        try (WorkersFixture next = first.successorWithThisRuntime()) {
            next.start();
            next.settle();

            assertThat(condition("PodResizePending")).startsWith("True Infeasible");
            assertThat(next.container("web", "side").getResources()).isNull();
        }
    }

    @Test
    void agentRestartsWhileTheContainerWaits_resizeStaysInfeasible() throws Exception {
        WorkersFixture first = start(new FlakyRuntime(new HollowRuntime(timekeeper)));
        change(withCpu(stored(), "2"));
        for (int ends = 0; ends < 2; ends++) {
            first.runtime.stopPod(PodReferences.key(stored().build()), Duration.ZERO);
            first.workers.changed(stored().buildMetadata().getUid());
            first.settle();
        }
        assertThat(first.container("web", "main").getState().getWaiting()).isNotNull();
        first.stop();

        try (WorkersFixture next = first.successorWithThisRuntime()) {
            next.start();

            assertThat(condition("PodResizePending")).startsWith("True Infeasible");
        }
    }

    @Test
    void runtimeResizes_newResourcesAreReported_andNothingIsPending() {
        ResizingRuntime runtime = new ResizingRuntime(new HollowRuntime(timekeeper));
        WorkersFixture at = start(runtime);

        change(withCpu(stored(), "2"));

        assertThat(runtime.resizes).containsExactly("main 2");
        assertThat(reported()).isEqualTo("2");
        assertThat(condition("PodResizePending")).isNull();
        assertThat(condition("PodResizeInProgress")).isNull();
        assertThat(at.runtime.calls).containsExactly("start web/main");
    }

    @Test
    void runtimeFailsToResize_isShown_andRepeated() {
        ResizingRuntime runtime = new ResizingRuntime(new HollowRuntime(timekeeper));
        WorkersFixture at = start(runtime);
        runtime.failure = new IOException("no cgroup");

        change(withCpu(stored(), "2"));

        assertThat(condition("PodResizeInProgress")).isEqualTo("True Error: container main: no cgroup");
        assertThat(reported()).isEqualTo("1");
        runtime.failure = null;
        at.timekeeper.advance(Duration.ofSeconds(15));
        at.settle();
        assertThat(condition("PodResizeInProgress")).isNull();
        assertThat(reported()).isEqualTo("2");
    }

    @Test
    void resizePolicyDemandsARestart_containerIsRestartedWithTheNewResources() {
        ResizingRuntime runtime = new ResizingRuntime(new HollowRuntime(timekeeper));
        WorkersFixture at = start(runtime);

        change(withCpu(stored(), "2")
                .editSpec()
                .editFirstContainer()
                .addNewResizePolicy("cpu", "RestartContainer")
                .endContainer()
                .endSpec());

        assertThat(runtime.resizes).isEmpty();
        assertThat(at.runtime.calls).containsExactly("start web/main", "stop web/main in 30", "start web/main");
        assertThat(reported()).isEqualTo("2");
    }
}
