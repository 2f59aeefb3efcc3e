package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.PodProvider;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/**
 * Runs each pod as a thread of this JVM: an example of a {@link PodProvider}. A pod has one container; its image names the
 * program, which gets the container's environment. Nothing outlives the agent.
 */
@NullUnmarked
final class ThreadPods implements PodProvider {

    /** What a container runs. Returns its exit code. */
    interface ThreadProgram {
        int run(Map<String, String> environment) throws InterruptedException;
    }

    private final Map<String, ThreadProgram> programs;
    private final Map<PodKey, RunningThread> running = new ConcurrentHashMap<>();
    private volatile @Nullable RuntimeEvents events;

    ThreadPods(Map<String, ThreadProgram> programs) {
        this.programs = Map.copyOf(programs);
    }

    /** One pod. Its end is set before the agent is told. */
    private final class RunningThread extends Thread {

        private final PodKey pod;
        private final ThreadProgram program;
        private final Map<String, String> environment;
        private final Instant started = Instant.now();
        private volatile @Nullable Integer exitCode;
        private volatile @Nullable Instant ended;

        RunningThread(PodKey pod, ThreadProgram program, Map<String, String> environment) {
            super("pod " + pod.name());
            setDaemon(true);
            this.pod = pod;
            this.program = program;
            this.environment = environment;
        }

        @Override
        public void run() {
            int code = 1;
            try {
                code = program.run(environment);
            } catch (InterruptedException stopped) {
                code = 143;
            } finally {
                ended = Instant.now();
                exitCode = code;
                RuntimeEvents told = events;
                if (told != null) {
                    told.changed(pod.uid());
                }
            }
        }

        ContainerState state() {
            Integer code = exitCode;
            String since = ApiTime.of(started);
            return code == null
                    ? new ContainerStateBuilder().withNewRunning(since).build()
                    : new ContainerStateBuilder()
                            .withNewTerminated()
                            .withExitCode(code)
                            .withStartedAt(since)
                            .withFinishedAt(ApiTime.of(ended))
                            .endTerminated()
                            .build();
        }
    }

    @Override
    public String type() {
        return "threads";
    }

    @Override
    public void listen(RuntimeEvents told) {
        events = told;
    }

    @Override
    public RuntimeStatus health() {
        return RuntimeStatus.ready("1");
    }

    @Override
    public List<PodKey> pods() {
        return List.copyOf(running.keySet());
    }

    @Override
    public void create(Pod pod, PodSetup setup) throws IOException {
        PodKey key = PodReferences.key(pod);
        String image = pod.getSpec().getContainers().get(0).getImage();
        ThreadProgram program = programs.get(image);
        if (program == null) {
            throw new IOException("there is no program " + image + "; there are " + programs.keySet());
        }
        String container = pod.getSpec().getContainers().get(0).getName();
        RunningThread thread =
                new RunningThread(key, program, setup.launches().get(container).environment());
        running.put(key, thread);
        thread.start();
    }

    @Override
    public void update(Pod pod, PodSetup setup) {
        // a thread keeps what it was started with
    }

    @Override
    public void delete(PodKey pod, Duration gracePeriod) throws InterruptedException {
        RunningThread thread = running.get(pod);
        if (thread != null) {
            thread.interrupt();
            thread.join();
        }
    }

    @Override
    public void forget(PodKey pod) {
        running.remove(pod);
    }

    @Override
    public PodState status(Pod pod) {
        RunningThread thread = running.get(PodReferences.key(pod));
        if (thread == null) {
            return PodState.NONE;
        }
        ContainerState state = thread.state();
        return PodState.of(
                List.of(),
                List.of(new ContainerStatusBuilder()
                        .withName(pod.getSpec().getContainers().get(0).getName())
                        .withContainerID("thread://" + thread.getId())
                        .withReady(state.getRunning() != null)
                        .withState(state)
                        .build()),
                List.of());
    }
}
