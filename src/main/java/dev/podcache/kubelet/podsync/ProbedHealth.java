package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.probe.ProbeKind;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.probe.Probes;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The health of containers as their startup, liveness and readiness probes find it. Thread-safe. */
public final class ProbedHealth implements ContainerHealth, AutoCloseable {

    private final Probes probes;

    ProbedHealth(Probes probes) {
        this.probes = probes;
    }

    /**
     * Returns the health of a node's containers. Must be closed.
     *
     * @param network must stay open until this is closed, which does not close it
     * @param runtime runs the commands of exec probes if it is a {@link
     *     dev.podcache.kubelet.runtime.ContainerExec}; otherwise these probes fail
     * @param threads run these commands, regardless of their limit
     * @param changed receives the UID of a pod when a probe of it has a new result, such as {@link PodWorkers#probed};
     *     must not block
     */
    public static ProbedHealth of(
            ProbeNetwork network,
            PodRuntime runtime,
            EventRecorder events,
            TaskThreads threads,
            Consumer<String> changed) {
        RuntimeExec exec = new RuntimeExec(runtime, threads);
        return new ProbedHealth(
                new Probes(network, exec, change -> changed.accept(change.pod().uid()), events));
    }

    @Override
    public void observe(Pod pod, PodState state) {
        probes.add(pod);
        probes.observe(
                pod,
                ImmutableList.copyOf(Iterables.concat(state.initContainers(), state.containers())),
                Iterables.getFirst(state.podIps(), null));
    }

    @Override
    public boolean isStarted(PodKey pod, Container container, String containerId) {
        return probes.started(pod, container.getName(), containerId);
    }

    @Override
    public boolean isReady(PodKey pod, Container container, String containerId) {
        return probes.ready(pod, container.getName(), containerId);
    }

    @Override
    public Optional<Unhealthy> unhealthy(PodKey pod, Container container, String containerId) {
        return probes.failed(pod, container.getName(), containerId)
                .map(failed -> new Unhealthy(failed.kind().toString().toLowerCase(Locale.ROOT), failed.gracePeriod()));
    }

    @Override
    public void ending(PodKey pod) {
        probes.ending(pod);
    }

    @Override
    public void ended(PodKey pod) {
        probes.remove(pod);
    }

    /** Returns how many checks have ended, as {@link Probes#counts}. */
    public Map<ProbeKind, Map<String, Long>> counts() {
        return probes.counts();
    }

    /** Returns what the checks of each probe of each pod have shown. */
    public List<Probes.ProbeCounted> counted() {
        return probes.counted();
    }

    /** Ends all probes. Idempotent. */
    @Override
    public void close() {
        probes.close();
    }
}
