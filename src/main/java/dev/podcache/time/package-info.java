/**
 * The only access to time, waiting and threads. All other packages use a {@link dev.podcache.time.Timekeeper}, so that
 * a test can control every clock, timer and wait and replay a race exactly.
 *
 * <p>Read {@code Timekeeper}, then {@code RefCountedTicker}, {@code Backoff}, {@code OutageBackoff}, {@code
 * TokenBucket}, {@code ApiTime} and {@code Durations}.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code RefCountedTicker}</td><td>the number of users, the next run</td><td>the lock of the timer</td></tr>
 * <tr><td>{@code TokenBucket}</td><td>when the bucket is full</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.time;

import org.jspecify.annotations.NullMarked;
