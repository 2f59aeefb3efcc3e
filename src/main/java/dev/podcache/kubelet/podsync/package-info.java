/**
 * What becomes of the pods assigned to a node: each is synced until it ends or is deleted, and then brought to its end.
 * A sync registers the pod with the managers, reads its configuration, has a {@link dev.podcache.kubelet.runtime.PodRuntime}
 * start what does not run yet, and reports the status. What running means is the runtime's affair.
 *
 * <p>Read {@code PodWorkers}, {@code PodWorker}, {@code PodLifecycle}, {@code PodAttempt}, {@code PodConfiguration}
 * (what a pod gets), {@code PodWarning} (what people are told), {@code PodRuntime}, {@code HollowRuntime}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code PodWorker}</td><td>what is to be done next for one pod</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.podsync;

import org.jspecify.annotations.NullMarked;
