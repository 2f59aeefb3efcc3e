package dev.podcache.kubelet.probe;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Probes the containers of a node's pods, as a kubelet does: startup, liveness and readiness probes of regular
 * containers and sidecars, by HTTP, TCP, gRPC or a command.
 *
 * <p>The owner {@linkplain #add adds} a pod, {@linkplain #observe reports} each observed change of its containers, asks
 * for the results, and {@linkplain #remove removes} the pod when none of its containers runs any more. A pod without
 * probes costs nothing.
 *
 * <p>Results belong to a container ID, which must change whenever the container is started again. A check never
 * overlaps with the previous check of the same probe. A check of an earlier container or a removed pod does not count.
 *
 * <p>Thread-safe. No method blocks, and none calls the listener. Calls of {@link #observe} for one pod must be made one
 * after another.
 */
public final class Probes implements AutoCloseable {

    // follows pkg/kubelet/prober/prober_manager.go of Kubernetes

    private final ProbeCheck check;
    private final ProbeReports reports;
    private final ProbeSchedule schedule;
    private final Timekeeper timekeeper;
    private final ConcurrentMap<PodKey, PodProbes> pods = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * Creates probes without pods.
     *
     * @param network runs HTTP, TCP and gRPC checks; may be shared; must stay open until this is closed, which does not
     *     close it
     * @param exec runs the commands of exec probes
     * @param listener is called when a check has changed a result, from the threads of the timekeeper's {@link
     *     Timekeeper#workers() workers}. Must not block. Calls for one probe come one after another, in order. Changes
     *     that {@link #observe} makes are not reported
     * @param events records {@code Unhealthy} and {@code ProbeWarning}
     */
    public Probes(ProbeNetwork network, ProbeExec exec, Consumer<ProbeChange> listener, EventRecorder events) {
        this(
                new ProbeActions(network, Objects.requireNonNull(exec, "exec")),
                new ProbeReports(
                        Objects.requireNonNull(listener, "listener"), Objects.requireNonNull(events, "events")),
                network.timekeeper(),
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /** Creates probes with another check and another source of jitter, uniform in [0, 1). */
    Probes(ProbeCheck check, ProbeReports reports, Timekeeper timekeeper, DoubleSupplier random) {
        this.check = check;
        this.reports = reports;
        this.timekeeper = timekeeper;
        this.schedule = new ProbeSchedule(timekeeper, random);
    }

    /**
     * Adds the probes of a pod. Has no effect if the pod is known or has no probes, or after {@link #close}.
     *
     * @param pod with a UID and a spec; must not be modified afterwards
     */
    public void add(Pod pod) {
        if (closed || !PodProbes.areIn(pod)) {
            return;
        }
        PodKey key = PodReferences.key(pod);
        pods.computeIfAbsent(key, added -> new PodProbes(pod, check, reports, schedule, timekeeper.workers()));
        if (closed) {
            remove(key);
        }
    }

    /**
     * Takes over the observed state of a pod. Starts the checks of containers that run, ends those of containers that
     * do not, and drops the results of earlier containers. Once the pod has a deletion timestamp, its liveness and
     * startup probes end with success, and only readiness is checked. If its phase is final, all its probes end. Has no
     * effect on a pod that was not added.
     *
     * @param pod the latest version of the API server; must not be modified afterwards. A container that ran before this
     *     object was created is started and ready, until the first check, if the status of {@code pod} says so
     * @param containers the runtime's statuses of init and other containers, in any order. Only the names, container IDs
     *     and states are used
     * @param podIp the address of the pod, for probes without a host; null if it has none yet
     */
    public void observe(Pod pod, List<ContainerStatus> containers, @Nullable String podIp) {
        @Nullable PodProbes probes = pods.get(PodReferences.key(pod));
        if (probes != null) {
            probes.observe(pod, containers, podIp);
        }
    }

    /**
     * Ends the liveness and startup probes of a pod with success, because the pod is about to be stopped: only its readiness is
     * checked from now on. Has no effect on an unknown pod.
     */
    public void ending(PodKey pod) {
        @Nullable PodProbes probes = pods.get(pod);
        if (probes != null) {
            probes.ending();
        }
    }

    /** Ends the probes of a pod and discards their results. Has no effect on an unknown pod. */
    public void remove(PodKey pod) {
        @Nullable PodProbes removed = pods.remove(pod);
        if (removed != null) {
            removed.close();
        }
    }

    /**
     * Returns whether a running container is ready: it is started, and its readiness probe succeeds if it has one. The
     * caller must not ask about a container that does not run, because such a container is never ready.
     *
     * @return true also for containers without probes, and for unknown pods
     */
    public boolean ready(PodKey pod, String container, String containerId) {
        @Nullable PodProbes probes = pods.get(pod);
        return probes == null || probes.isReady(container, containerId);
    }

    /**
     * Returns whether a running container is started: its startup probe has succeeded if it has one.
     *
     * @return true also for containers without a startup probe, and for unknown pods
     */
    public boolean started(PodKey pod, String container, String containerId) {
        @Nullable PodProbes probes = pods.get(pod);
        return probes == null || probes.isStarted(container, containerId);
    }

    /**
     * Returns why a running container must be restarted: its liveness or startup probe failed. Remains until another
     * container ID is observed, or until the pod is deleted.
     */
    public Optional<FailedProbe> failed(PodKey pod, String container, String containerId) {
        @Nullable PodProbes probes = pods.get(pod);
        return probes == null ? Optional.empty() : probes.failed(container, containerId);
    }

    /**
     * Returns how many checks have ended since the creation of this object, by probe and result: {@code successful},
     * {@code failed}, and {@code unknown} if the check could not be run. Zeros too; unmodifiable.
     */
    public Map<ProbeKind, Map<String, Long>> counts() {
        return reports.counts().all();
    }

    /**
     * What the checks of one probe have shown since its pod was added. Immutable.
     *
     * @param results how many checks have ended, by the results of {@link #counts}, zeros too
     * @param durations for each upper bound in seconds, how many checks took at most so long; the last bound is infinite
     * @param seconds that all checks took, from their turn on
     */
    public record ProbeCounted(
            PodKey pod,
            String container,
            ProbeKind kind,
            Map<String, Long> results,
            SortedMap<Double, Long> durations,
            double seconds) {}

    /** Returns what the checks of each probe of each pod have shown, in no order. */
    public List<ProbeCounted> counted() {
        return pods.values().stream().flatMap(pod -> pod.counted().stream()).toList();
    }

    /** Ends all probes. A running call of the listener continues. Idempotent. */
    @Override
    public void close() {
        closed = true;
        List.copyOf(pods.keySet()).forEach(this::remove);
    }
}
