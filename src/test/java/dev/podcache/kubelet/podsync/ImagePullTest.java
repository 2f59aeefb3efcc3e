package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.ImagePull;
import dev.podcache.kubelet.runtime.ImagePullException;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** After TestParallelPuller and the cases of pullerTestCases in image_manager_test.go. */
@Timeout(60)
@ExtendWith(NoLeaks.class)
class ImagePullTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final PullingRuntime runtime = new PullingRuntime(new HollowRuntime(timekeeper));
    private @Nullable WorkersFixture node;

    /** A runtime whose images are on the machine after their pull. */
    private static final class PullingRuntime extends FlakyRuntime implements ImagePull {

        final List<String> pulls = new CopyOnWriteArrayList<>();
        final List<String> images = new CopyOnWriteArrayList<>();
        final Queue<ImagePullException> failures = new ArrayDeque<>();

        @Nullable
        IllegalStateException fault;

        Optional<Duration> deadline = Optional.empty();

        @Nullable
        CountDownLatch held;

        final CountDownLatch pulling = new CountDownLatch(1);

        PullingRuntime(HollowRuntime runtime) {
            super(runtime);
        }

        @Override
        public void pull(Pod pod, Container container, List<Secret> pullSecrets)
                throws ImagePullException, InterruptedException {
            pulls.add(container.getImage()
                    + pullSecrets.stream()
                            .map(each -> each.getMetadata().getName())
                            .toList());
            pulling.countDown();
            if (held != null) {
                held.await();
            }
            if (fault != null) {
                throw fault;
            }
            ImagePullException failure = failures.poll();
            if (failure != null) {
                throw failure;
            }
            images.add(container.getImage());
        }

        @Override
        public boolean isPresent(Pod pod, Container container) {
            return images.contains(container.getImage());
        }

        @Override
        public Optional<Duration> deadline() {
            return deadline;
        }
    }

    private WorkersFixture start(WorkersFixture.Options options) {
        WorkersFixture started = WorkersFixture.on(options, timekeeper, runtime);
        node = started;
        return started.start();
    }

    @AfterEach
    void tearDown() {
        if (node != null) {
            node.close();
        } else {
            timekeeper.close();
        }
    }

    private static PodBuilder withPolicy(String policy) {
        return pod("web")
                .editSpec()
                .editFirstContainer()
                .withImagePullPolicy(policy)
                .endContainer()
                .endSpec();
    }

    private ImmutableList<String> lines() {
        return Objects.requireNonNull(node).events.lines();
    }

    @Test
    void imageIsMissing_isPulledWithTheSecretsOfThePod_thenTheContainerStarts() {
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.secret("registry", "x");
        agent.create(withPolicy("IfNotPresent")
                .editSpec()
                .addNewImagePullSecret("registry")
                .endSpec());

        assertThat(runtime.pulls).containsExactly("nginx[registry]");
        assertThat(lines())
                .containsExactly(
                        "Normal Pulling Pulling image \"nginx\"",
                        "Normal Pulled Successfully pulled image \"nginx\" in 0s",
                        "Normal Created Container created",
                        "Normal Started Container started");
        assertThat(agent.events.events().get(0).about().getFieldPath()).isEqualTo("spec.containers{main}");
        assertThat(agent.status("web").getPhase()).isEqualTo("Running");
    }

    @ParameterizedTest
    @CsvSource({"IfNotPresent, 0", "Never, 0", "Always, 1"})
    void imageIsPresent_isPulledOnlyIfThePolicyIsAlways(String policy, int pulls) {
        runtime.images.add("nginx");
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.create(withPolicy(policy));

        assertThat(runtime.pulls).hasSize(pulls);
        assertThat(agent.status("web").getPhase()).isEqualTo("Running");
        if (pulls == 0) {
            assertThat(lines())
                    .startsWith(
                            "Normal Pulled Container image \"nginx\" already present on machine and can be accessed by the pod");
        }
    }

    @Test
    void imageIsMissing_policyIsNever_waitsWithErrImageNeverPull() {
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.create(withPolicy("Never"));

        assertThat(agent.waiting("web", "main"))
                .isEqualTo("ErrImageNeverPull: Container image \"nginx\" is not present with pull policy of Never");
        assertThat(lines())
                .containsExactly(
                        "Warning ErrImageNeverPull Container image \"nginx\" is not present with pull policy of Never",
                        "Warning Failed Error: ErrImageNeverPull");
        assertThat(runtime.pulls).isEmpty();
        assertThat(runtime.calls).isEmpty();
    }

    @Test
    @ExpectedWarnings("image of pod shop/web was not pulled; retrying")
    void onlyImageOfAPodIsNotPulled_ephemeralContainerRunsAllTheSame() {
        runtime.images.add("busybox");
        runtime.failures.add(new ImagePullException("nginx: not found"));
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.create(withPolicy("IfNotPresent"));
        agent.server
                .cluster()
                .update(new PodBuilder(agent.server.cluster().get(Pod.class, "shop", "web"))
                        .editSpec()
                        .addNewEphemeralContainer()
                        .withName("debug")
                        .withImage("busybox")
                        .withImagePullPolicy("IfNotPresent")
                        .endEphemeralContainer()
                        .endSpec()
                        .build());
        agent.settle();

        PodStatus status = agent.status("web");
        assertThat(status.getEphemeralContainerStatuses().get(0).getState().getRunning())
                .isNotNull();
        assertThat(agent.waiting("web", "main"))
                .isEqualTo("ImagePullBackOff: Back-off pulling image \"nginx\": ErrImagePull: nginx: not found");
        assertThat(status.getPhase()).isEqualTo("Pending");
        assertThat(runtime.calls).containsExactly("start web/debug");
    }

    @Test
    @ExpectedWarnings("image of pod shop/web was not pulled; retrying")
    void pullFailsTwice_backsOff_andThenTheContainerStarts() {
        runtime.failures.add(new ImagePullException("nginx: not found"));
        runtime.failures.add(new ImagePullException("nginx: registry is down"));
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.create(withPolicy("Always"));

        assertThat(agent.waiting("web", "main")).isEqualTo("ErrImagePull: nginx: not found");
        assertThat(lines())
                .containsExactly(
                        "Normal Pulling Pulling image \"nginx\"",
                        "Warning Failed Failed to pull image \"nginx\": nginx: not found",
                        "Warning Failed Error: ErrImagePull");
        agent.workers.changed(agent.server
                .cluster()
                .get(Pod.class, "shop", "web")
                .getMetadata()
                .getUid());
        agent.settle();
        assertThat(agent.waiting("web", "main"))
                .isEqualTo("ImagePullBackOff: Back-off pulling image \"nginx\": ErrImagePull: nginx: not found");
        assertThat(lines())
                .endsWith("Normal BackOff Back-off pulling image \"nginx\"", "Warning Failed Error: ImagePullBackOff");
        assertThat(runtime.pulls).hasSize(1);

        agent.timekeeper.advance(Duration.ofSeconds(10));
        agent.settle();
        assertThat(runtime.pulls).hasSize(2);
        assertThat(agent.waiting("web", "main")).isEqualTo("ErrImagePull: nginx: registry is down");
        agent.timekeeper.advance(Duration.ofSeconds(19));
        assertThat(runtime.pulls).hasSize(2);
        agent.timekeeper.advance(Duration.ofSeconds(1));
        agent.settle();

        assertThat(runtime.pulls).hasSize(3);
        assertThat(agent.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings("image of pod shop/web was not pulled; retrying")
    void pullFails_imageIsChanged_isPulledAtOnce() {
        runtime.failures.add(new ImagePullException("nginx: not found"));
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT);
        agent.create(withPolicy("Always"));

        agent.server
                .cluster()
                .update(new PodBuilder(agent.server.cluster().get(Pod.class, "shop", "web"))
                        .editSpec()
                        .editFirstContainer()
                        .withImage("nginx:1")
                        .endContainer()
                        .endSpec()
                        .build());
        agent.settle();

        assertThat(runtime.pulls).containsExactly("nginx[]", "nginx:1[]");
        assertThat(agent.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void pullTakesAnHour_isNoHangingRuntime_andOtherPodsRun() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        runtime.held = held;
        CountedThreads threads = new CountedThreads();
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT.on(threads, 1));
        threads.awaitRunning(0);
        agent.create(withPolicy("Always"));
        assertThat(runtime.pulling.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        agent.settle();
        runtime.images.add("busy");
        agent.create(pod("other")
                .editSpec()
                .editFirstContainer()
                .withImage("busy")
                .withImagePullPolicy("IfNotPresent")
                .endContainer()
                .endSpec());
        agent.settle();
        // no call but the pull
        threads.awaitRunning(1);

        for (int steps = 0; steps < 360; steps++) {
            agent.timekeeper.advance(Duration.ofSeconds(10));
            threads.awaitRunning(1);
        }
        agent.settle();

        assertThat(lines()).noneMatch(line -> line.contains("RuntimeNotResponding"));
        assertThat(agent.status("other").getPhase()).isEqualTo("Running");
        assertThat(agent.status("web").getPhase()).isEqualTo("Pending");
        held.countDown();
        threads.awaitRunning(0);
        agent.settle();
        threads.awaitRunning(0);
        agent.settle();
        assertThat(agent.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void podIsDeletedDuringThePull_pullIsInterrupted() throws Exception {
        runtime.held = new CountDownLatch(1);
        CountedThreads threads = new CountedThreads();
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT.on(threads, 1));
        threads.awaitRunning(0);
        Pod web = agent.create(withPolicy("Always"));
        assertThat(runtime.pulling.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        agent.settle();

        agent.server.cluster().delete(web);
        threads.awaitRunning(0);
        agent.settle();
        threads.awaitRunning(0);
        agent.settle();

        assertThat(agent.exists("web")).isFalse();
        assertThat(lines()).containsExactly("Normal Pulling Pulling image \"nginx\"");
    }

    @Test
    @ExpectedWarnings("image of pod shop/web was not pulled; retrying")
    void runtimeHasADeadline_pullIsInterruptedThen_andFails() throws Exception {
        runtime.held = new CountDownLatch(1);
        runtime.deadline = Optional.of(Duration.ofMinutes(2));
        CountedThreads threads = new CountedThreads();
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT.on(threads, 1));
        threads.awaitRunning(0);
        agent.create(withPolicy("Always"));
        assertThat(runtime.pulling.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        agent.settle();
        agent.timekeeper.awaitWaiters(1);

        agent.timekeeper.advance(Duration.ofMinutes(2));
        Patience.await().until(() -> lines().contains("Warning Failed Error: ErrImagePull"));

        assertThat(lines())
                .contains("Warning Failed Failed to pull image \"nginx\": the pull has not ended within 2m0s");
        threads.awaitRunning(0);
    }

    @Test
    @ExpectedWarnings("image of pod shop/web was not pulled; retrying")
    void pullWithADeadline_endsWithAFault_whichIsSaid() throws Exception {
        runtime.fault = new IllegalStateException("boom");
        runtime.deadline = Optional.of(Duration.ofMinutes(2));
        CountedThreads threads = new CountedThreads();
        WorkersFixture agent = start(WorkersFixture.Options.DEFAULT.on(threads, 1));
        agent.create(withPolicy("Always"));

        Patience.await().until(() -> lines().contains("Warning Failed Error: ErrImagePull"));

        assertThat(lines()).contains("Warning Failed Failed to pull image \"nginx\": boom");
        threads.awaitRunning(0);
    }
}
