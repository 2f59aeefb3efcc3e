package dev.podcache.kubelet.probe;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Probe;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The probes of one pod. Decides under its lock; runs checks, events and the listener without it. Thread-safe. */
final class PodProbes {

    private static final Logger log = LoggerFactory.getLogger(PodProbes.class);

    private final PodKey key;
    private final ProbeCheck check;
    private final ProbeReports reports;
    private final Executor workerThreads;
    private final ImmutableList<ProbeWorker> workers; // the workers are guarded by this
    private Pod pod; // guarded by this
    private String podIp = ""; // guarded by this
    private boolean closed; // guarded by this

    PodProbes(Pod pod, ProbeCheck check, ProbeReports reports, ProbeSchedule schedule, Executor workerThreads) {
        this.key = PodReferences.key(pod);
        this.pod = pod;
        this.check = check;
        this.reports = reports;
        this.workerThreads = workerThreads;
        ImmutableList.Builder<ProbeWorker> all = ImmutableList.builder();
        for (Container container : pod.getSpec().getContainers()) {
            addWorkers(container, "spec.containers", schedule, all);
        }
        sidecars(pod).forEach(sidecar -> addWorkers(sidecar, "spec.initContainers", schedule, all));
        this.workers = all.build();
    }

    /** Returns whether a container of the pod has a probe. */
    static boolean areIn(Pod pod) {
        for (Container container : pod.getSpec().getContainers()) {
            if (hasProbe(container)) {
                return true;
            }
        }
        return sidecars(pod).anyMatch(PodProbes::hasProbe);
    }

    private static boolean hasProbe(Container container) {
        for (ProbeKind kind : ProbeKind.values()) {
            if (kind.of(container) != null) {
                return true;
            }
        }
        return false;
    }

    private static Stream<Container> sidecars(Pod pod) {
        return pod.getSpec().getInitContainers().stream()
                .filter(container -> "Always".equals(container.getRestartPolicy()));
    }

    private static void addWorkers(
            Container container, String list, ProbeSchedule schedule, ImmutableList.Builder<ProbeWorker> to) {
        for (ProbeKind kind : ProbeKind.values()) {
            @Nullable Probe spec = kind.of(container);
            if (spec != null) {
                to.add(new ProbeWorker(kind, spec, container, list + "{" + container.getName() + "}", schedule));
            }
        }
    }

    /** Takes over the states of the pod and its containers, and schedules the checks that they allow. */
    synchronized void observe(Pod latest, List<ContainerStatus> statuses, @Nullable String latestPodIp) {
        pod = latest;
        podIp = Strings.nullToEmpty(latestPodIp);
        if (PodEnd.isTerminal(latest)) {
            close();
        }
        if (closed) {
            return;
        }
        List<ContainerStatus> reported = reported(latest);
        for (ProbeWorker worker : workers) {
            for (ContainerStatus status : statuses) {
                if (worker.container().getName().equals(status.getName())
                        && !Strings.isNullOrEmpty(status.getContainerID())) {
                    worker.observe(status, reported);
                }
            }
            if (PodEnd.isDeleted(latest)) {
                worker.podEnds();
            }
        }
        reschedule();
    }

    /** Ends the liveness and startup probes. */
    synchronized void ending() {
        workers.forEach(ProbeWorker::podEnds);
        reschedule();
    }

    private static List<ContainerStatus> reported(Pod pod) {
        @Nullable PodStatus status = pod.getStatus();
        return status == null
                ? List.of()
                : ImmutableList.copyOf(
                        Iterables.concat(status.getInitContainerStatuses(), status.getContainerStatuses()));
    }

    private synchronized void reschedule() {
        for (ProbeWorker worker : workers) {
            String container = worker.container().getName();
            worker.reschedule(isStarted(container, worker.state().containerId()), turn -> begin(worker, turn));
        }
    }

    /** Runs on the timer thread. */
    private void begin(ProbeWorker worker, long turn) {
        ProbeTarget target;
        String containerId;
        synchronized (this) {
            target = new ProbeTarget(pod, worker.container(), podIp);
            containerId = worker.state().containerId();
            if (!worker.begin(turn)) {
                return;
            }
        }
        boolean submitted = false;
        try {
            workerThreads.execute(() -> run(worker, target, containerId));
            submitted = true;
        } finally {
            if (!submitted) {
                goOn(worker);
            }
        }
    }

    private void run(ProbeWorker worker, ProbeTarget target, String containerId) {
        boolean begun = false;
        try {
            run(worker, target)
                    .whenCompleteAsync(
                            (outcome, thrown) -> end(worker, target, containerId, outcome, thrown), workerThreads);
            begun = true;
        } finally {
            if (!begun) {
                goOn(worker);
            }
        }
    }

    /** Ends a check, so that the next one follows. */
    private synchronized void goOn(ProbeWorker worker) {
        worker.end();
        if (!closed) {
            reschedule();
        }
    }

    private CompletableFuture<ProbeOutcome> run(ProbeWorker worker, ProbeTarget target) {
        try {
            return check.run(worker.spec(), target);
        } catch (RuntimeException | Error e) {
            log.warn("{} of pod {} could not be checked; probing continues", worker, key, e);
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The listener is called before the next check can begin, so that it gets the changes of a probe in order. */
    private void end(
            ProbeWorker worker,
            ProbeTarget target,
            String containerId,
            @Nullable ProbeOutcome outcome,
            @Nullable Throwable thrown) {
        try {
            ProbeOutcome known = outcome == null ? ProbeOutcome.error(String.valueOf(thrown)) : outcome;
            report(worker, target, containerId, known);
        } catch (RuntimeException | Error e) {
            log.error("the result of the {} of pod {} was not reported; probing continues", worker, key, e);
        } finally {
            goOn(worker);
        }
    }

    private void report(ProbeWorker worker, ProbeTarget target, String containerId, ProbeOutcome outcome) {
        boolean changed;
        synchronized (this) {
            if (closed || !worker.isCurrent(containerId)) {
                return;
            }
            worker.count(outcome.verdict());
            changed = outcome.verdict() != ProbeOutcome.Verdict.ERROR
                    && worker.checked(outcome.verdict() != ProbeOutcome.Verdict.FAILURE);
        }
        reports.checked(worker, target, outcome);
        if (changed) {
            boolean success = outcome.verdict() != ProbeOutcome.Verdict.FAILURE;
            reports.changed(
                    new ProbeChange(key, worker.container().getName(), worker.kind(), success, outcome.message()));
        }
    }

    synchronized List<Probes.ProbeCounted> counted() {
        return workers.stream().map(worker -> worker.counted(key)).toList();
    }

    /** Returns whether the startup probe of a container has succeeded, or the container has none. */
    synchronized boolean isStarted(String container, String containerId) {
        return succeeds(ProbeKind.STARTUP, container, containerId);
    }

    /** Returns whether a container is started and its readiness probe succeeds, if it has one. */
    synchronized boolean isReady(String container, String containerId) {
        return isStarted(container, containerId) && succeeds(ProbeKind.READINESS, container, containerId);
    }

    private boolean succeeds(ProbeKind kind, String container, String containerId) {
        for (ProbeWorker worker : workers) {
            if (worker.isOf(kind, container)) {
                return worker.knows(containerId) && worker.succeeds();
            }
        }
        return true;
    }

    /** Returns the failed liveness or startup probe of a container. */
    synchronized Optional<FailedProbe> failed(String container, String containerId) {
        return workers.stream()
                .filter(worker -> worker.container().getName().equals(container) && worker.knows(containerId))
                .flatMap(worker -> worker.failed().stream())
                .findFirst();
    }

    /** Ends all checks. The results of checks that are running are dropped. Idempotent. */
    synchronized void close() {
        closed = true;
        workers.forEach(ProbeWorker::stop);
    }
}
