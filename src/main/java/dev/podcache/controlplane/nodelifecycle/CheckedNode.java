package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ObservedNode;

/**
 * A node about which the monitor has decided.
 *
 * @param node as it is after the decision was written
 */
record CheckedNode(ObservedNode node, HealthVerdict verdict) {}
