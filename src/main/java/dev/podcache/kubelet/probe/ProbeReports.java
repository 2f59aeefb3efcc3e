package dev.podcache.kubelet.probe;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;
import java.util.function.Consumer;

/**
 * Counts the outcomes of checks, and reports them as events, and changed results to the listener.
 *
 * @param listener receives each changed result
 */
record ProbeReports(Consumer<ProbeChange> listener, EventRecorder events, ProbeCounts counts) {

    ProbeReports(Consumer<ProbeChange> listener, EventRecorder events) {
        this(listener, events, new ProbeCounts());
    }

    // follows probe of pkg/kubelet/prober/prober.go of Kubernetes

    /** Counts an outcome, and records its event. A success has none. */
    void checked(ProbeWorker worker, ProbeTarget target, ProbeOutcome outcome) {
        counts.add(worker.kind(), outcome.verdict());
        switch (outcome.verdict()) {
            case SUCCESS -> {}
            case WARNING -> record(worker, target, "ProbeWarning", " probe warning: " + outcome.message());
            case FAILURE -> record(worker, target, "Unhealthy", " probe failed: " + outcome.message());
            case ERROR ->
                record(
                        worker,
                        target,
                        "Unhealthy",
                        " probe errored and resulted in unknown state: " + outcome.message());
        }
    }

    private void record(ProbeWorker worker, ProbeTarget target, String reason, String message) {
        events.event(
                InvolvedObject.of(target.pod(), worker.fieldPath()),
                EventRecorder.EventType.WARNING,
                reason,
                worker.kind() + message);
    }

    void changed(ProbeChange change) {
        listener.accept(change);
    }
}
