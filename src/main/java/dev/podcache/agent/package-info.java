/**
 * The process edge: a node agent, one that only looks on, and a demo of that. The only place that wires the library together,
 * reads flags and environment, makes threads of its own, or exits; nobody imports it. Data goes to standard output, logs and
 * complaints to standard error.
 *
 * <p>Read {@code NodeAgentMain}, {@code RunCommand}, {@code NodeAgent} (what a node agent consists of), {@code NodePorts}, {@code
 * NodeSelf}, {@code AgentServices}, {@code AgentAccount}; then {@code ObserveCommand}, {@code Observer}, {@code AssignedPods}, {@code
 * PeriodicReads}; then {@code DemoCommand}, {@code Demo}, {@code DemoSide} and {@code DemoScript}. How the agent is configured: {@code
 * KubeletFlags} and {@code ConfigurationFile} give {@code Settings}, of which {@code KubeletConfiguration} is made.
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
package dev.podcache.agent;

import org.jspecify.annotations.NullMarked;
