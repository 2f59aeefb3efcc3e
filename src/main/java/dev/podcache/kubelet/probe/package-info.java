/**
 * Probes the containers of a node's pods: startup, liveness and readiness, by HTTP, TCP, gRPC or a command. After {@code
 * pkg/kubelet/prober} and {@code pkg/probe} of Kubernetes. A check begins as soon as its container and the initial delay
 * allow it; there is no timer while the container does not run.
 *
 * <p>Read {@code Probes}, {@code PodProbes}, {@code ProbeWorker}, {@code ProbeState}, {@code ProbeSchedule}, {@code
 * ProbeActions}, {@code HttpCheck}, {@code HttpRedirects}, {@code GrpcCheck}, {@code ProbeNetwork} with {@code ProbeLookups}
 * and Netty's {@code HttpProbeCall} and {@code GrpcProbeCall}, and {@code ProbeReports}. {@code HookRequest} sends the HTTP requests
 * of lifecycle hooks.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code PodProbes}</td><td>the states and timers of all probes of one pod; whether it was removed. Not held
 * during a check, an event or a call of the listener</td><td>the timer's</td></tr>
 * <tr><td>{@code ProbeNetwork}</td><td>whether the event loop is started or closed; held while it
 * starts</td><td>none</td></tr>
 * </table>
 *
 * <p>Confined to the event loop: {@code HttpProbeCall}, {@code GrpcProbeCall}. Only public classes of Netty are used that are the
 * same in 4.1 and 4.2.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.probe;

import org.jspecify.annotations.NullMarked;
