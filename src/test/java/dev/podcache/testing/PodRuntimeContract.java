package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a node agent relies on, as tests for a {@link PodRuntime} of yours: extend this class. A runtime that never tells
 * of a change fails, because the agent would see it only at the next sync. What a runtime may lack is skipped unless a method
 * says that it is there: see {@link #lingering}, {@link #file} and {@link #shell}.
 */
public abstract class PodRuntimeContract {

    /** The label of pods whose container is to end by itself; its value is {@code true} or {@code false}. */
    protected static final String ENDS = "podcache.dev/ends";

    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Duration SHORT_GRACE = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(30);

    /** From before the call to long after most starts. */
    private static final List<Duration> INTERRUPTS =
            Stream.of(0, 1, 3, 10, 30, 100).map(Duration::ofMillis).toList();

    /** The exit code of a container that ended in its own time. */
    protected static final int LINGERED = 7;

    private static final int FAILED = 3;

    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private PodRuntime runtime;

    /** Returns the runtime of a test, not started. Called once for each test. */
    protected abstract PodRuntime runtime() throws IOException;

    /** Returns how to start a container that soon ends by itself with exit code 0, or that runs until it is stopped. */
    protected abstract Launch launch(boolean ends);

    /**
     * Returns how to start a container that runs until it is told to stop, and then takes this long to end by itself, with the
     * exit code {@link #LINGERED}; empty if no container of this runtime takes time to end, which is the default.
     */
    protected Optional<Launch> lingering(Duration toEnd) {
        return Optional.empty();
    }

    /**
     * Returns whether the running container of {@link #lingering} is ready to be told to stop, such as once a script has its
     * trap. By default it always is.
     */
    protected boolean isReadyToLinger(PodRuntime runtime, Pod pod) throws IOException {
        return true;
    }

    /**
     * Returns the runtime as the next agent of the node finds it, not started, after this one was left without a word. By
     * default the same object, for a runtime whose state lives elsewhere.
     */
    protected PodRuntime afterRestart(PodRuntime before) throws IOException {
        return before;
    }

    /**
     * Returns the content of a file that was mounted, as a container sees it; null if there is none. By default skips the
     * test, for a runtime that has no files.
     */
    protected @Nullable String file(Pod pod, String volume, String path) throws IOException {
        return abort("this runtime has no files; if it has, override file(...)");
    }

    /** Returns the command that runs a script of a POSIX shell in a container. By default {@code sh -c}. */
    protected List<String> shell(String script) {
        return List.of("sh", "-c", script);
    }

    /** Returns how long something may take that should be over at once. By default 30 s, for a busy machine. */
    protected Duration patience() {
        return LONG;
    }

    /** Lets time pass, for a runtime whose time is driven by hand. Called again and again until what is awaited happens. */
    protected void meanwhile() {}

    @BeforeEach
    void startRuntime() throws IOException {
        runtime = runtime();
        listen();
    }

    private void listen() {
        runtime.listen(new RuntimeEvents() {
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
        return start(name, ends, launch(ends));
    }

    private Pod start(String name, boolean ends, Launch launch) throws IOException, InterruptedException {
        Pod pod = pod(name, ends);
        runtime.mount(pod, Map.of());
        runtime.startContainer(pod, container(pod), launch);
        return pod;
    }

    private Pod running(String name) throws IOException, InterruptedException {
        Pod pod = start(name, false);
        await(() -> isRunning(pod));
        return pod;
    }

    private void end(Pod pod) throws IOException, InterruptedException {
        runtime.stopPod(PodReferences.key(pod), Duration.ZERO);
        runtime.forget(PodReferences.key(pod));
    }

    private static Launch withHash(Launch launch, int restarts, String hash) {
        return new Launch(
                launch.command(),
                launch.args(),
                launch.workingDirectory(),
                launch.environment(),
                launch.mounts(),
                launch.pullSecrets(),
                restarts,
                hash);
    }

    private static Container container(Pod pod) {
        return pod.getSpec().getContainers().get(0);
    }

    private void await(BooleanSupplier condition) {
        Patience.await().atMost(patience()).until(() -> {
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

        runtime.startContainer(pod, container(pod), withHash(launch(true), 1, ""));
        await(() -> told.contains("uid-job"));

        assertThat(status(pod).getContainerID()).isNotEmpty().isNotEqualTo(before);
    }

    /** A hash that a runtime makes up would have containers restarted for nothing. */
    @Test
    void container_isStarted_hashIsGivenBackOrLeftOut() throws Exception {
        Pod pod = pod("web", false);
        Container main = container(pod);
        String hash = Launch.hashOf(main.getName(), main.getImage());
        runtime.mount(pod, Map.of());
        runtime.startContainer(pod, main, withHash(launch(false), 0, hash));
        await(() -> isRunning(pod));

        assertThat(runtime.status(pod).containerHashes().getOrDefault(main.getName(), hash))
                .isEqualTo(hash);

        runtime.stopPod(PodReferences.key(pod), GRACE);
        runtime.forget(PodReferences.key(pod));
    }

    @Test
    void pod_runsIsStoppedAndForgotten() throws Exception {
        Pod pod = start("web", false);
        Pod other = start("other", false);
        PodKey key = PodReferences.key(pod);
        await(() -> isRunning(pod) && isRunning(other));
        assertThat(runtime.pods()).containsExactlyInAnyOrder(key, PodReferences.key(other));

        runtime.stopPod(key, GRACE);
        assertThat(status(pod).getState().getTerminated()).isNotNull();
        assertThat(isRunning(other)).isTrue();

        runtime.forget(key);
        assertThat(runtime.pods()).containsExactly(PodReferences.key(other));
        assertThat(runtime.status(pod).containers()).isEmpty();

        runtime.stopContainer(PodReferences.key(other), "main", GRACE);
        runtime.forget(PodReferences.key(other));
        assertThat(runtime.pods()).isEmpty();
    }

    @Test
    void ephemeralContainer_runsBesideTheOthers_andEndsWithThePod() throws Exception {
        Pod pod = start("web", false);
        PodKey key = PodReferences.key(pod);
        Pod debugged = debugged(pod, "main");
        runtime.startContainer(debugged, EphemeralContainers.of(debugged).get(0), launch(false));

        await(() -> ephemeral(debugged).getState().getRunning() != null && isRunning(pod));
        assertThat(runtime.status(debugged).withEphemeralApart("debug"::equals).containers())
                .hasSize(1);
        runtime.stopPod(key, GRACE);

        assertThat(ephemeral(debugged).getState().getTerminated()).isNotNull();
        runtime.forget(key);
        assertThat(runtime.pods()).isEmpty();
    }

    /** So that a pod can be debugged whose other containers cannot start. */
    @Test
    void ephemeralContainer_isTheFirstOfItsPod_runsAlone_andOthersFollow() throws Exception {
        Pod debugged = debugged(pod("web", false), "");
        PodKey key = PodReferences.key(debugged);
        runtime.mount(debugged, Map.of());
        runtime.startContainer(debugged, EphemeralContainers.of(debugged).get(0), launch(false));

        await(() -> ephemeral(debugged).getState().getRunning() != null);
        assertThat(runtime.status(debugged).withEphemeralApart("debug"::equals).containers())
                .isEmpty();
        assertThat(runtime.pods()).containsExactly(key);

        runtime.startContainer(debugged, container(debugged), launch(false));
        await(() -> ephemeral(debugged).getState().getRunning() != null && isMainRunning(debugged));
        runtime.stopPod(key, GRACE);

        assertThat(ephemeral(debugged).getState().getTerminated()).isNotNull();
        runtime.forget(key);
        assertThat(runtime.pods()).isEmpty();
    }

    private boolean isMainRunning(Pod pod) {
        return runtime.status(pod).containers().stream()
                .anyMatch(status ->
                        status.getName().equals("main") && status.getState().getRunning() != null);
    }

    private static Pod debugged(Pod pod, String target) {
        return new PodBuilder(pod)
                .editSpec()
                .addNewEphemeralContainer()
                .withName("debug")
                .withImage(container(pod).getImage())
                .withTargetContainerName(target)
                .endEphemeralContainer()
                .endSpec()
                .build();
    }

    private ContainerStatus ephemeral(Pod pod) {
        PodState state = runtime.status(pod).withEphemeralApart("debug"::equals);
        assertThat(state.ephemeralContainers()).hasSize(1);
        return state.ephemeralContainers().get(0);
    }

    @Test
    void pod_isUnknown_stopAndForgetHaveNoEffect() throws Exception {
        PodKey unknown = PodReferences.key(pod("unknown", false));

        runtime.stopPod(unknown, GRACE);
        runtime.stopContainer(unknown, "main", GRACE);
        runtime.forget(unknown);

        assertThat(runtime.pods()).isEmpty();
        assertThat(runtime.status(pod("unknown", false)).containers()).isEmpty();
    }

    /** An agent that finds another image or hash starts the container anew, at each update of itself. */
    @Test
    void agent_isRestarted_containerRunsOnWithItsIdImageAndHash() throws Exception {
        Pod pod = pod("web", false);
        Container main = container(pod);
        runtime.mount(pod, Map.of());
        runtime.startContainer(pod, main, withHash(launch(false), 0, Launch.hashOf(main.getName(), main.getImage())));
        await(() -> isRunning(pod));
        ContainerStatus before = status(pod);
        Map<String, String> hashes = runtime.status(pod).containerHashes();

        runtime = afterRestart(runtime);
        listen();

        assertThat(isRunning(pod)).as("runs on").isTrue();
        assertThat(status(pod).getContainerID()).isEqualTo(before.getContainerID());
        assertThat(status(pod).getImage()).isEqualTo(before.getImage());
        assertThat(runtime.status(pod).containerHashes()).isEqualTo(hashes);
        assertThat(runtime.pods()).containsExactly(PodReferences.key(pod));
        end(pod);
    }

    /** The agent takes a start that throws for one that did not happen, and makes another. */
    @Test
    void start_isInterrupted_nothingRunsIfItThrows() throws Exception {
        for (Duration after : INTERRUPTS) {
            Pod pod = pod("web-" + after.toMillis(), false);
            runtime.mount(pod, Map.of());

            boolean thrown = startInterrupted(pod, after);
            for (int look = 0; thrown && look < 3; look++) {
                assertThat(isRunning(pod))
                        .as("runs although its start, interrupted after %s, threw", after)
                        .isFalse();
                meanwhile();
            }
            end(pod);
        }
    }

    /** Returns whether the call threw. */
    private boolean startInterrupted(Pod pod, Duration after) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean thrown = new AtomicBoolean();
        Thread starter = new Thread(() -> {
            if (after.isZero()) {
                Thread.currentThread().interrupt();
            }
            begun.countDown();
            try {
                runtime.startContainer(pod, container(pod), launch(false));
            } catch (IOException | InterruptedException | RuntimeException e) {
                thrown.set(true);
            }
        });
        starter.start();
        begun.await();
        if (!after.isZero()) {
            starter.join(after.toMillis());
            starter.interrupt();
        }
        starter.join(patience().toMillis());
        assertThat(starter.isAlive()).as("an interrupted start hangs").isFalse();
        return thrown.get();
    }

    @Test
    void stop_containerEndsWithinItsGrace_itIsLeftThatTime() throws Exception {
        Launch launch = lingering(SHORT_GRACE).orElseGet(PodRuntimeContract::endsAtOnce);
        for (boolean whole : new boolean[] {true, false}) {
            Pod pod = start("slow-" + whole, false, launch);
            await(() -> isRunning(pod) && isReadyToLinger(pod));

            stop(pod, whole, patience().plus(LONG));

            assertThat(status(pod).getState().getTerminated().getExitCode()).isEqualTo(LINGERED);
            end(pod);
        }
    }

    @Test
    void stop_containerNeedsLonger_itIsEndedAfterTheGrace() throws Exception {
        Launch launch = lingering(patience().plus(LONG)).orElseGet(PodRuntimeContract::endsAtOnce);
        for (boolean whole : new boolean[] {true, false}) {
            Pod pod = start("slower-" + whole, false, launch);
            await(() -> isRunning(pod) && isReadyToLinger(pod));

            assertTimeoutPreemptively(patience(), () -> stop(pod, whole, SHORT_GRACE));

            assertThat(status(pod).getState().getTerminated().getExitCode())
                    .isNotNull()
                    .isNotIn(0, LINGERED);
            end(pod);
        }
    }

    private boolean isReadyToLinger(Pod pod) {
        try {
            return isReadyToLinger(runtime, pod);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Launch endsAtOnce() {
        return abort("containers of this runtime end at once; if they do not, override lingering(...)");
    }

    private void stop(Pod pod, boolean whole, Duration grace) throws IOException, InterruptedException {
        if (whole) {
            runtime.stopPod(PodReferences.key(pod), grace);
        } else {
            runtime.stopContainer(PodReferences.key(pod), "main", grace);
        }
    }

    /** What is left would be taken for the state of a pod that is created with its UID again: a static pod. */
    @Test
    void pod_isForgotten_nothingIsLeftOfItsState() throws Exception {
        Pod pod = pod("web", false);
        runtime.mount(pod, Map.of());
        runtime.startContainer(pod, container(pod), withHash(launch(false), 5, "hash"));
        await(() -> isRunning(pod));

        end(pod);

        assertThat(runtime.pods()).isEmpty();
        assertThat(runtime.status(pod).containers()).isEmpty();
        assertThat(runtime.status(pod).initContainers()).isEmpty();
        assertThat(runtime.status(pod).containerHashes()).isEmpty();

        Pod again = running("web");
        assertThat(status(again).getRestartCount()).isIn(null, 0);
        end(again);
    }

    /** A Secret that cannot be read for a moment must not take the files from a running container. */
    @Test
    void mount_volumeIsNotInTheMap_keepsItsFiles() throws Exception {
        Pod pod = Pods.withVolume(Pods.withVolume(new PodBuilder(pod("web", false)), "keys"), "other")
                .build();
        runtime.mount(pod, Map.of("v-keys", files("k", "1"), "v-other", files("o", "1")));
        runtime.startContainer(pod, container(pod), launch(false));
        assertThat(file(pod, "v-keys", "k")).isEqualTo("1");

        runtime.mount(pod, Map.of("v-other", files("p", "2")));

        assertThat(file(pod, "v-keys", "k"))
                .as("of a volume that is not in the map")
                .isEqualTo("1");
        assertThat(file(pod, "v-other", "p")).isEqualTo("2");
        assertThat(file(pod, "v-other", "o")).as("no longer in the Secret").isNull();

        runtime.mount(pod, Map.of());
        assertThat(file(pod, "v-keys", "k")).isEqualTo("1");
        assertThat(file(pod, "v-other", "p")).isEqualTo("2");
        end(pod);
    }

    private static Map<String, VolumeFile> files(String name, String content) {
        return Map.of(name, VolumeFile.of(content.getBytes(StandardCharsets.UTF_8), 0644));
    }

    private ContainerProcess exec(Pod pod, String script) throws IOException {
        if (runtime instanceof ContainerExec commands) {
            return commands.exec(PodReferences.key(pod), "main", shell(script), false);
        }
        return abort("this runtime runs no commands");
    }

    /** A probe, a hook or {@code kubectl exec} that does not end keeps a thread or a terminal. */
    @Test
    void exec_commandEnds_itsCodeAndTheEndOfItsOutputsCome() throws Exception {
        Pod pod = running("web");

        for (String left : List.of("", "sleep 300 & ")) {
            try (ContainerProcess process = exec(pod, left + "echo out; exit " + FAILED)) {
                process.stdin().close();
                String output = assertTimeoutPreemptively(
                        patience(), () -> new String(process.stdout().readAllBytes(), StandardCharsets.UTF_8));
                assertThat(output).isEqualTo("out\n");
                assertThat(assertTimeoutPreemptively(
                                patience(), () -> process.stderr().readAllBytes()))
                        .isEmpty();
                assertThat(assertTimeoutPreemptively(patience(), process::await))
                        .isEqualTo(FAILED);
            }
        }
        end(pod);
    }

    @Test
    void exec_isClosed_commandEnds() throws Exception {
        Pod pod = running("web");

        ContainerProcess process = exec(pod, "echo out; sleep 300");
        assertThat(assertTimeoutPreemptively(patience(), () -> process.stdout().read()))
                .isEqualTo('o');
        process.close();
        process.close();

        assertThat(assertTimeoutPreemptively(patience(), process::await)).isNotZero();
        end(pod);
    }

    @Test
    void exec_containerEnds_commandEndsWithIt_andNoOtherStarts() throws Exception {
        Pod pod = running("web");
        try (ContainerProcess process = exec(pod, "echo out; sleep 300")) {
            assertThat(assertTimeoutPreemptively(
                            patience(), () -> process.stdout().read()))
                    .isEqualTo('o');

            runtime.stopPod(PodReferences.key(pod), Duration.ZERO);

            assertThat(assertTimeoutPreemptively(patience(), process::await)).isNotZero();
        }
        assertThatIOException().isThrownBy(() -> exec(pod, "exit 0"));
        end(pod);
    }
}
