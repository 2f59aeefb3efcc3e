package dev.podcache.kubelet.nodestatus;

import java.time.Instant;
import java.util.Optional;

/**
 * The state of a {@link NodeStatusUpdater}, for probes and diagnostics. Immutable.
 *
 * @param registered whether the updater has created or corrected the Node, and has not seen its deletion since; always
 *     false if the updater does not register the node
 * @param lastReport the wall-clock time at which the API server last accepted a report; empty if it never did
 * @param problem why the last registration attempt or the last sync failed; empty if it succeeded
 */
public record NodeStatusState(boolean registered, Optional<Instant> lastReport, Optional<String> problem) {}
