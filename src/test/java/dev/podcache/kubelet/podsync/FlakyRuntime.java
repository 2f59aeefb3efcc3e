package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.Patience;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A runtime that records its calls, and throws what a test sets. */
class FlakyRuntime implements PodRuntime, ContainerExec {

    PodRuntime runtime;

    /** The calls in order, such as {@code start web/main}. */
    final List<String> calls = new CopyOnWriteArrayList<>();

    private final Map<String, Launch> launches = new ConcurrentHashMap<>();
    private volatile Map<String, Map<String, VolumeFile>> mounted = Map.of();

    @Nullable
    Throwable onStart;

    @Nullable
    Throwable onMount;

    @Nullable
    Throwable onStatus;

    @Nullable
    Throwable onPods;

    @Nullable
    Throwable onStop;

    @Nullable
    Runnable duringStop;

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger listed = new AtomicInteger();

    /** Whether starts have no effect. */
    boolean ignoresStart;

    /** Whether stops of single containers have no effect. */
    boolean ignoresStop;

    /** The container whose starts throw. */
    @Nullable
    String failsToStart;

    /** The container whose stops throw. */
    @Nullable
    String failsToStop;

    /** Whether stops of single containers throw after they took effect. */
    boolean failsAfterStop;

    /** Whether statuses do not say when a container ended. */
    boolean hidesEnds;

    /** What statuses say when a container started, in place of the time. */
    @Nullable
    String startedAt;

    /** How far the clock is ahead by which statuses say when a container ended. */
    Duration endsAhead = Duration.ZERO;

    /** Whether the runtime does not give back the hashes of specs. */
    boolean hidesHashes;

    /** Whether the runtime shows no addresses any more. */
    boolean hidesIps;

    /** Whether statuses do not say which image a container has. */
    boolean hidesImages;

    /** What the runtime puts before the name of an image. */
    String imagePrefix = "";

    /** Whether the runtime says of all containers that they are not ready. */
    boolean notReady;

    /** Whether the runtime has lost the state of all pods, until it starts a container. */
    boolean forgetsAll;

    /** Runs the commands in containers. */
    Function<List<String>, ContainerProcess> commands = command -> new FakeProcess("", 0);

    private final Map<String, Held> held = new ConcurrentHashMap<>();

    /** A call that waits until the test releases it, or its thread is interrupted. */
    static final class Held {
        private final CountDownLatch made = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);

        void awaitCall() throws InterruptedException {
            assertThat(made.await(Patience.SECONDS, TimeUnit.SECONDS))
                    .as("the call was made")
                    .isTrue();
        }

        void release() {
            release.countDown();
        }
    }

    /**
     * Holds the next call of this kind.
     *
     * @param call such as {@code start web/main}, {@code mount web}, {@code stop web}, {@code stop web/main}, {@code
     *     status web} or {@code forget web}
     */
    Held hold(String call) {
        Held added = new Held();
        held.put(call, added);
        return added;
    }

    private void pause(String call) throws InterruptedException {
        Held waits = held.remove(call);
        if (waits != null) {
            waits.made.countDown();
            waits.release.await();
        }
    }

    FlakyRuntime(PodRuntime runtime) {
        this.runtime = runtime;
    }

    /** Returns how often the agent asked for a status. */
    int asked() {
        return asked.get();
    }

    /** Returns how often the agent asked for all pods. */
    int listed() {
        return listed.get();
    }

    /** Returns the variables that a container was started with. */
    Map<String, String> environment(String container) {
        return Objects.requireNonNull(launches.get(container)).environment();
    }

    /** Returns whether a volume had content at the last mount. */
    boolean isMounted(String volume) {
        return mounted.containsKey(volume);
    }

    /** Returns the content of a file at the last mount of its volume. */
    String mounted(String volume, String file) {
        VolumeFile found = Objects.requireNonNull(mounted.get(volume)).get(file);
        return new String(Objects.requireNonNull(found).bytes(), StandardCharsets.UTF_8);
    }

    @Override
    public String type() {
        return runtime.type();
    }

    @Override
    public void listen(RuntimeEvents events) {
        runtime.listen(events);
    }

    @Override
    public RuntimeStatus health() {
        return runtime.health();
    }

    @Override
    public List<PodKey> pods() {
        listed.incrementAndGet();
        throwIfSet(onPods);
        return runtime.pods();
    }

    @Override
    public PodState status(Pod pod) {
        asked.incrementAndGet();
        Held waits = held.remove("status " + pod.getMetadata().getName());
        if (waits != null) {
            waits.made.countDown();
            Uninterruptibles.awaitUninterruptibly(waits.release);
        }
        throwIfSet(onStatus);
        PodState state = forgetsAll ? PodState.NONE : runtime.status(pod);
        List<ContainerStatus> shown = hidesEnds ? withoutEnds(state.containers()) : state.containers();
        return new PodState(
                state.initContainers(),
                changed(shown),
                changed(state.ephemeralContainers()),
                hidesIps ? List.of() : state.podIps(),
                hidesHashes ? Map.of() : state.containerHashes());
    }

    private static List<ContainerStatus> withoutEnds(List<ContainerStatus> statuses) {
        return statuses.stream()
                .map(status -> States.isTerminated(status)
                        ? new ContainerStatusBuilder(status)
                                .editState()
                                .editTerminated()
                                .withFinishedAt(null)
                                .endTerminated()
                                .endState()
                                .build()
                        : status)
                .toList();
    }

    private List<ContainerStatus> changed(List<ContainerStatus> statuses) {
        return statuses.stream()
                .map(status -> new ContainerStatusBuilder(status)
                        .withState(changed(status.getState()))
                        .withImage(hidesImages || status.getImage() == null ? null : imagePrefix + status.getImage())
                        .withReady(notReady ? Boolean.FALSE : status.getReady())
                        .build())
                .toList();
    }

    private @Nullable ContainerState changed(@Nullable ContainerState state) {
        if (state != null && state.getRunning() != null && startedAt != null) {
            return new ContainerStateBuilder().withNewRunning(startedAt).build();
        }
        if (state != null && state.getTerminated() != null && !endsAhead.isZero()) {
            return new ContainerStateBuilder(state)
                    .editTerminated()
                    .withFinishedAt(ApiTime.of(
                            Instant.parse(state.getTerminated().getFinishedAt()).plus(endsAhead)))
                    .endTerminated()
                    .build();
        }
        return state;
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException, InterruptedException {
        pause("mount " + pod.getMetadata().getName());
        throwIfSet(onMount);
        mounted = volumes;
        runtime.mount(pod, volumes);
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) throws IOException, InterruptedException {
        calls.add("start " + pod.getMetadata().getName() + "/" + container.getName());
        pause("start " + pod.getMetadata().getName() + "/" + container.getName());
        throwIfSet(onStart);
        if (container.getName().equals(failsToStart)) {
            throw new IOException(container.getName() + " has no disk");
        }
        launches.put(container.getName(), launch);
        if (forgetsAll) {
            forgetsAll = false;
            runtime.forget(PodReferences.key(pod));
            runtime.status(new PodBuilder(pod).withStatus(null).build());
        }
        if (!ignoresStart) {
            runtime.startContainer(pod, container, launch);
        }
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod)
            throws IOException, InterruptedException {
        calls.add("stop " + pod.name() + "/" + container + " in " + gracePeriod.toSeconds());
        pause("stop " + pod.name() + "/" + container);
        throwIfSet(onStop);
        if (container.equals(failsToStop)) {
            throw new IOException(container + " is busy");
        }
        if (!ignoresStop) {
            runtime.stopContainer(pod, container, gracePeriod);
        }
        if (failsAfterStop) {
            throw new IOException("the answer was lost");
        }
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        calls.add("stop " + pod.name() + " in " + gracePeriod.toSeconds());
        pause("stop " + pod.name());
        if (duringStop != null) {
            duringStop.run();
        }
        runtime.stopPod(pod, gracePeriod);
    }

    @Override
    public ContainerProcess exec(PodKey pod, String container, List<String> command, boolean tty) {
        calls.add("exec " + pod.name() + "/" + container + " " + String.join(" ", command));
        try {
            pause("exec " + pod.name() + "/" + container);
        } catch (InterruptedException e) {
            throw new IllegalStateException("the command was not started", e);
        }
        return commands.apply(command);
    }

    @Override
    public void forget(PodKey pod) throws IOException {
        calls.add("forget " + pod.name());
        runtime.forget(pod);
    }

    private static void throwIfSet(@Nullable Throwable thrown) {
        if (thrown != null) {
            Throwables.throwIfUnchecked(thrown);
        }
    }
}
