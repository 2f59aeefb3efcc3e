/**
 * The one seam for time, waiting and threads. Everything else in Podcache asks a {@link dev.podcache.time.Timekeeper},
 * so that a test can drive every clock, timer and wait by hand and replay a race exactly.
 *
 * <p>Read {@code Timekeeper}, then {@code RefCountedTicker}, {@code Backoff}, {@code OutageBackoff}, {@code TokenBucket}, {@code
 * ApiTime} and {@code Durations}.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code RefCountedTicker}</td><td>users, the next run</td><td>the timer's</td></tr>
 * <tr><td>{@code TokenBucket}</td><td>when it is full</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.time;

import org.jspecify.annotations.NullMarked;
