package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a node agent relies on, as tests for a {@link PodRuntime} of yours: extend this class. A runtime that never tells
 * of a change fails, because the agent would see it only at the next sync.
 */
public abstract class PodRuntimeContract {

    /** The label of pods whose container is to end by itself; its value is {@code true} or {@code false}. */
    protected static final String ENDS = "podcache.dev/ends";

    private static final Duration GRACE = Duration.ofSeconds(5);

    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private PodRuntime runtime;

    /** Returns the runtime of a test, not started. Called once for each test. */
    protected abstract PodRuntime runtime() throws IOException;

    /** Returns how to start a container that soon ends by itself with exit code 0, or that runs until it is stopped. */
    protected abstract Launch launch(boolean ends);

    /** Lets time pass, for a runtime whose time is driven by hand. Called again and again until what is awaited happens. */
    protected void meanwhile() {}

    @BeforeEach
    void startRuntime() throws IOException {
        runtime = runtime();
        runtime.start(new RuntimeEvents() {
            @Override
            public void changed(String podUid) {
                told.add(podUid);
            }

            @Override
            public void healthChanged() {}
        });
    }

    private static Pod pod(String name, boolean ends) {
        return new PodBuilder(Pods.at(Pods.withSecrets("shop", name, "uid-" + name), "1"))
                .editMetadata()
                .addToLabels(ENDS, String.valueOf(ends))
                .endMetadata()
                .build();
    }

    private Pod start(String name, boolean ends) throws IOException, InterruptedException {
        Pod pod = pod(name, ends);
        runtime.mount(pod, Map.of());
        runtime.start(pod, container(pod), launch(ends));
        return pod;
    }

    private static Container container(Pod pod) {
        return pod.getSpec().getContainers().get(0);
    }

    private void await(BooleanSupplier condition) {
        Patience.await().until(() -> {
            meanwhile();
            return condition.getAsBoolean();
        });
    }

    private ContainerStatus status(Pod pod) {
        assertThat(runtime.status(pod).containers()).hasSize(1);
        return runtime.status(pod).containers().get(0);
    }

    private boolean isRunning(Pod pod) {
        return runtime.status(pod).containers().stream()
                .anyMatch(status -> status.getState().getRunning() != null);
    }

    @Test
    void health_ofAStartedRuntime_isAnAnswer() {
        assertThat(runtime.type()).isNotEmpty().isEqualTo(runtime.type());
        assertThat(runtime.health()).isNotNull();
        assertThat(runtime.pods()).isEmpty();
    }

    @Test
    void container_endsByItself_isToldAndThenInTheStatus() throws Exception {
        Pod pod = start("job", true);

        await(() -> told.contains("uid-job"));

        assertThat(status(pod).getState().getTerminated()).isNotNull();
        assertThat(status(pod).getState().getTerminated().getExitCode()).isZero();
        assertThat(runtime.pods()).containsExactly(PodReferences.key(pod));
    }

    @Test
    void container_isStartedAgain_hasAnotherId() throws Exception {
        Pod pod = start("job", true);
        await(() -> told.contains("uid-job"));
        String before = status(pod).getContainerID();
        told.clear();

        Launch first = launch(true);
        runtime.start(
                pod,
                container(pod),
                new Launch(
                        first.command(),
                        first.args(),
                        first.workingDirectory(),
                        first.environment(),
                        first.mounts(),
                        first.pullSecrets(),
                        1));
        await(() -> told.contains("uid-job"));

        assertThat(status(pod).getContainerID()).isNotEmpty().isNotEqualTo(before);
    }

    @Test
    void pod_runsIsStoppedAndForgotten() throws Exception {
        Pod pod = start("web", false);
        Pod other = start("other", false);
        PodKey key = PodReferences.key(pod);
        await(() -> isRunning(pod) && isRunning(other));
        assertThat(runtime.pods()).containsExactlyInAnyOrder(key, PodReferences.key(other));

        runtime.stop(key, GRACE);
        assertThat(status(pod).getState().getTerminated()).isNotNull();
        assertThat(isRunning(other)).isTrue();

        runtime.forget(key);
        assertThat(runtime.pods()).containsExactly(PodReferences.key(other));
        assertThat(runtime.status(pod).containers()).isEmpty();

        runtime.stop(PodReferences.key(other), "main", GRACE);
        runtime.forget(PodReferences.key(other));
        assertThat(runtime.pods()).isEmpty();
    }

    @Test
    void pod_isUnknown_stopAndForgetHaveNoEffect() throws Exception {
        PodKey unknown = PodReferences.key(pod("unknown", false));

        runtime.stop(unknown, GRACE);
        runtime.stop(unknown, "main", GRACE);
        runtime.forget(unknown);

        assertThat(runtime.pods()).isEmpty();
        assertThat(runtime.status(pod("unknown", false)).containers()).isEmpty();
    }
}
