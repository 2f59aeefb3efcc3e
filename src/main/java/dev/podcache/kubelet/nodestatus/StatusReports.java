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
 * Computes the status, knows whether it is to be reported, and reports it. Used in a turn only, but for {@link #last}.
 */
final class StatusReports {

    private final ObjectApi<Node> api;
    private final NodeStatusComputation computation;
    private final LastReport lastReport;
    private final Timekeeper timekeeper;
    private volatile @Nullable Instant last; // written in a turn

    StatusReports(
            ObjectApi<Node> api, NodeStatusComputation computation, LastReport lastReport, Timekeeper timekeeper) {
        this.api = api;
        this.computation = computation;
        this.lastReport = lastReport;
        this.timekeeper = timekeeper;
    }

    /** Blocks as long as the setters do. */
    Computed compute(Node original) {
        return computation.update(original, timekeeper.wallTime());
    }

    boolean isNews(Computed computed) {
        return computed.changed() || lastReport.differsIn(computed.podCidrs());
    }

    boolean isOverdue() {
        return lastReport.isOverdue(timekeeper.nanoTime());
    }

    /** One request. */
    CompletableFuture<Void> send(Computed computed) {
        lastReport.sending(isNews(computed));
        String patch = NodeStatusPatch.between(computed.original(), computed.node());
        return api.patchStatus(ObjectKey.of("", computed.node().getMetadata().getName()), patch)
                .thenAccept(patched -> {
                    lastReport.sent(timekeeper.nanoTime(), computed.podCidrs());
                    last = timekeeper.wallTime();
                });
    }

    /** What was reported is gone, or was never seen by this process. */
    void forget() {
        lastReport.forget();
    }

    /** When a report was last accepted. From any thread. */
    Optional<Instant> last() {
        return Optional.ofNullable(last);
    }
}
