/**
 * Computes what the nodes of a cluster cost its API server, and how soon the cluster notices a dead node: by calculation,
 * and by a simulation of agents and controllers. Both without I/O.
 *
 * <p>Read {@link dev.podcache.controlplane.planner.PlanSettings}, {@link dev.podcache.controlplane.planner.Plan} and
 * {@link dev.podcache.controlplane.planner.PlanFigure}; then {@code HeartbeatPlan}, {@code ObjectPlan}, {@code
 * RequestPlan}, {@code TrafficPlan}, {@code DetectionPlan} and {@code RestartPlan}, which compute the figures in this
 * order. {@code PlanConstants} has the figures of others, each with its source. {@link
 * dev.podcache.controlplane.planner.Simulation} runs {@code SimulatedAgent}s and the controllers against a {@code
 * SimulatedServer}, on one thread. Has no locks.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.controlplane.planner;

import org.jspecify.annotations.NullMarked;
