package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerAttach;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerLogs;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.ForwardingRuntime;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodPortForward;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A runtime with all optional capabilities, whose answers a test sets. It runs no containers. */
final class ServedRuntime extends ForwardingRuntime
        implements ContainerLogs, ContainerExec, ContainerAttach, PodPortForward, ContainerStatistics {

    final Queue<String> logged = new ConcurrentLinkedQueue<>();
    final Queue<LogOptions> options = new ConcurrentLinkedQueue<>();
    final Queue<List<String>> commands = new ConcurrentLinkedQueue<>();
    final Queue<String> attached = new ConcurrentLinkedQueue<>();
    final Queue<String> forwarded = new ConcurrentLinkedQueue<>();

    volatile Opens<LogOptions, InputStream> logs = asked -> text("hello\n");
    volatile Opens<List<String>, ContainerProcess> exec = command -> new FakeCommand();
    volatile Opens<Boolean, ContainerProcess> attach = stdin -> new FakeCommand();
    volatile Opens<Integer, PortConnection> port = number -> new FakePort();
    volatile Opens<String, List<PodUsage>> usage = nothing -> List.of();

    ServedRuntime() {
        super(new HollowRuntime(new ManualTimekeeper()));
    }

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
    public ContainerProcess attach(PodKey pod, String container, boolean stdin) throws IOException {
        attached.add(pod + " " + container + (stdin ? " with input" : ""));
        return attach.open(stdin);
    }

    @Override
    public PortConnection portForward(PodKey pod, int number) throws IOException {
        forwarded.add(pod + " " + number);
        return port.open(number);
    }

    @Override
    public List<PodUsage> usage() throws IOException {
        return usage.open("");
    }
}
