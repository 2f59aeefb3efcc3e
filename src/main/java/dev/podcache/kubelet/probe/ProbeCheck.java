package dev.podcache.kubelet.probe;

import io.fabric8.kubernetes.api.model.Probe;
import java.util.concurrent.CompletableFuture;

/** Runs the check of a probe once. */
@FunctionalInterface
interface ProbeCheck {

    /**
     * Starts a check. Must not block. The future always completes, on any thread; if exceptionally, or if this method
     * throws, the check does not count.
     */
    CompletableFuture<ProbeOutcome> run(Probe probe, ProbeTarget target);
}
