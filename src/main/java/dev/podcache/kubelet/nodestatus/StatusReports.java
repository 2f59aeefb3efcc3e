package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.kubelet.nodestatus.NodeStatusComputation.Computed;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Computes the status, decides whether to report it, and reports it. Used only by tasks of {@link SerialTasks}, except
 * for {@link #last}.
 */
final class StatusReports {

    private final ObjectApi<Node> api;
    private final NodeStatusComputation computation;
    private final LastReport lastReport;
    private final Timekeeper timekeeper;
    private volatile @Nullable Instant last; // written by tasks of SerialTasks

    StatusReports(
            ObjectApi<Node> api, NodeStatusComputation computation, LastReport lastReport, Timekeeper timekeeper) {
        this.api = api;
        this.computation = computation;
        this.lastReport = lastReport;
        this.timekeeper = timekeeper;
    }

    /** Computes the status. Blocks while a setter blocks. */
    Computed compute(Node original) {
        return computation.update(original, timekeeper.wallTime());
    }

    /** Returns whether status, platform labels or pod CIDRs have changed since the last report. */
    boolean isChanged(Computed computed) {
        return computed.changed() || lastReport.differsIn(computed.podCidrs());
    }

    /** Returns whether a report is due although nothing changed. */
    boolean isDue() {
        return lastReport.isDue(timekeeper.nanoTime());
    }

    /** Reports the status with one request. */
    CompletableFuture<Void> send(Computed computed) {
        lastReport.sending(isChanged(computed));
        String patch = NodeStatusPatch.between(computed.original(), computed.node());
        return api.patchStatus(ObjectKey.of("", computed.node().getMetadata().getName()), patch)
                .thenAccept(patched -> {
                    lastReport.sent(timekeeper.nanoTime(), computed.podCidrs());
                    last = timekeeper.wallTime();
                });
    }

    /** Forgets the last report, because the Node has just been registered. */
    void forget() {
        lastReport.forget();
    }

    /** Returns when the server last accepted a report. May be called from any thread. */
    Optional<Instant> last() {
        return Optional.ofNullable(last);
    }
}
