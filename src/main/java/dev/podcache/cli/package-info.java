/**
 * The process edge: the program {@code podcache}, which is a node of a cluster ({@code run}), looks at one
 * without changing anything ({@code observe}), or shows both without a cluster ({@code demo}). The only place that
 * wires the library together, reads flags and environment, makes threads of its own, or exits; nobody imports it. Data
 * goes to standard output, logs and complaints to standard error.
 *
 * <p>Read {@code Main}, {@code RunCommand}, {@code NodeAgent}, {@code NodeSelf}, {@code AgentServices} and
 * {@code AgentAccount}; {@code ObserveCommand}, {@code Observer}, {@code AssignedPods}, {@code PeriodicReads}; then
 * {@code DemoCommand}, {@code Demo}, {@code DemoSide}, {@code DemoScript} and {@code DemoNode}. How the agent is
 * configured: {@code KubeletFlags} and {@code ConfigurationFile} give {@code Settings}, of which {@code
 * KubeletConfiguration} is made.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code LineWriter}</td><td>what waits to be printed; printed without it</td><td>none of ours</td></tr>
 * <tr><td>{@code Changes.seen}</td><td>what was seen</td><td>none</td></tr>
 * <tr><td>{@code WatchNews}</td><td>what there is to tell of watches</td><td>none of ours; told without it</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.cli;

import org.jspecify.annotations.NullMarked;
