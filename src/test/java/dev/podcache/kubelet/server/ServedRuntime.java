package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerLogs;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A runtime with all optional capabilities, whose answers a test sets. It runs no containers. */
final class ServedRuntime implements PodRuntime, ContainerLogs, ContainerExec, ContainerStatistics {

    private final HollowRuntime hollow = new HollowRuntime(new ManualTimekeeper());

    final Queue<String> logged = new ConcurrentLinkedQueue<>();
    final Queue<LogOptions> options = new ConcurrentLinkedQueue<>();
    final Queue<List<String>> commands = new ConcurrentLinkedQueue<>();

    volatile Opens<LogOptions, InputStream> logs = asked -> text("hello\n");
    volatile Opens<List<String>, ContainerProcess> exec = command -> new FakeCommand();
    volatile Opens<String, List<PodUsage>> usage = nothing -> List.of();

    interface Opens<A, R> {
        R open(A argument) throws IOException;
    }

    static InputStream text(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public InputStream logs(PodKey pod, String container, LogOptions asked) throws IOException {
        logged.add(pod + " " + container);
        options.add(asked);
        return logs.open(asked);
    }

    @Override
    public ContainerProcess exec(PodKey pod, String container, List<String> command, boolean tty) throws IOException {
        commands.add(command);
        return exec.open(command);
    }

    @Override
    public List<PodUsage> usage() throws IOException {
        return usage.open("");
    }

    @Override
    public String type() {
        return "served";
    }

    @Override
    public void start(RuntimeEvents events) {
        hollow.start(events);
    }

    @Override
    public RuntimeStatus health() {
        return hollow.health();
    }

    @Override
    public List<PodKey> pods() {
        return hollow.pods();
    }

    @Override
    public PodState status(Pod pod) {
        return hollow.status(pod);
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException, InterruptedException {
        hollow.mount(pod, volumes);
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) throws IOException, InterruptedException {
        hollow.start(pod, container, launch);
    }

    @Override
    public void stop(PodKey pod, String container, Duration gracePeriod) throws IOException, InterruptedException {
        hollow.stop(pod, container, gracePeriod);
    }

    @Override
    public void stop(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        hollow.stop(pod, gracePeriod);
    }

    @Override
    public void forget(PodKey pod) throws IOException {
        hollow.forget(pod);
    }
}
