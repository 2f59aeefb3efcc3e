package dev.podcache.kubelet.nodestatus;

import java.time.Instant;
import java.util.Optional;

/**
 * How the reporting of a node's status goes, for probes and people. Immutable.
 *
 * @param registered whether the Node was created, or found and put right, and was not seen to be gone since; never, if
 *     the node leaves registration to others
 * @param lastReport when the API server last accepted a report of the status, by the wall
 *     clock; empty if it has accepted none
 * @param problem why the last attempt to register, or the last sync, failed; empty if all is well
 */
public record NodeStatusState(boolean registered, Optional<Instant> lastReport, Optional<String> problem) {}
