package dev.podcache.example;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;

/**
 * A runtime to begin with: all that a {@link PodRuntime} needs, and nothing else. Containers are processes of this machine,
 * without files, images and logs. They end with the JVM: one that finds them again is {@code ProcessRuntime}.
 */
@NullUnmarked
public final class SmallRuntime implements PodRuntime {

    private final Map<PodKey, Map<String, SmallProgram>> pods = new ConcurrentHashMap<>(); // programs by container
    private volatile RuntimeEvents events;

    private record SmallProgram(Process process, String id, String started) {

        ContainerStatus status(String container) {
            ContainerStateBuilder state = new ContainerStateBuilder();
            if (process.isAlive()) {
                state.withNewRunning(started);
            } else {
                state.withNewTerminated()
                        .withExitCode(process.exitValue())
                        .withStartedAt(started)
                        .endTerminated();
            }
            return new ContainerStatusBuilder()
                    .withName(container)
                    .withContainerID("small://" + id)
                    .withState(state.build())
                    .build();
        }
    }

    @Override
    public String type() {
        return "small";
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
        return List.copyOf(pods.keySet());
    }

    @Override
    public PodState status(Pod pod) {
        Map<String, SmallProgram> programs = pods.getOrDefault(PodReferences.key(pod), Map.of());
        List<ContainerStatus> init = new ArrayList<>();
        List<ContainerStatus> others = new ArrayList<>();
        programs.forEach((container, program) -> {
            boolean isInit = pod.getSpec().getInitContainers().stream()
                    .anyMatch(each -> each.getName().equals(container));
            (isInit ? init : others).add(program.status(container));
        });
        return new PodState(init, others, List.of());
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        // these programs see no files; a VolumeDirectory would write them
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) throws IOException {
        List<String> command = new ArrayList<>(launch.command());
        command.addAll(launch.args());
        // output that nobody reads would stop the process
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        // the agent's own variables are none of the container's
        builder.environment().clear();
        builder.environment().putAll(launch.environment());
        Process process = builder.start();
        PodKey key = PodReferences.key(pod);
        pods.computeIfAbsent(key, first -> new ConcurrentHashMap<>())
                .put(container.getName(), new SmallProgram(process, UUID.randomUUID() + "", ApiTime.of(Instant.now())));
        process.onExit().thenRun(() -> events.changed(key.uid()));
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod) throws InterruptedException {
        SmallProgram program = pods.getOrDefault(pod, Map.of()).get(container);
        stop(program == null ? List.of() : List.of(program), gracePeriod);
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) throws InterruptedException {
        stop(List.copyOf(pods.getOrDefault(pod, Map.of()).values()), gracePeriod);
    }

    private static void stop(List<SmallProgram> programs, Duration gracePeriod) throws InterruptedException {
        long end = System.nanoTime() + gracePeriod.toNanos();
        programs.forEach(program -> program.process.destroy());
        for (SmallProgram program : programs) {
            if (!program.process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                program.process.destroyForcibly().waitFor();
            }
        }
    }

    @Override
    public void forget(PodKey pod) {
        pods.remove(pod);
    }
}
