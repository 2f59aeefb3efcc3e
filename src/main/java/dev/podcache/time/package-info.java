/**
 * The only access to time, waiting and threads. All other packages use a {@link dev.podcache.time.Timekeeper}, so that
 * a test can control every clock, timer and wait and replay a race exactly.
 *
 * <p>Read {@code Timekeeper}, then {@code Pause}, {@code PeriodicLoop}, {@code SerialRun}, {@code RefCountedTicker}, {@code Backoff},
 * {@code OutageBackoff}, {@code TokenBucket}, {@code TaskThreads}, {@code OverdueCalls}, {@code ApiTime} and {@code Durations}; and {@code
 * SimulatedTimekeeper}, whose time a test or a simulation drives.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code PeriodicLoop}</td><td>whether a run is in progress, and whether another one was
 * requested</td><td>{@code Pause}</td></tr>
 * <tr><td>{@code SerialRun}</td><td>whether there is a run, and whether another one follows</td><td>none</td></tr>
 * <tr><td>{@code Pause}</td><td>the task that waits, whether it is closed</td><td>the timer's</td></tr>
 * <tr><td>{@code RefCountedTicker}</td><td>users, the next run</td><td>the timer's</td></tr>
 * <tr><td>{@code TokenBucket}</td><td>when it is full</td><td>none</td></tr>
 * <tr><td>{@code SimulatedTimekeeper}</td><td>its time and timers</td><td>none</td></tr>
 * <tr><td>{@code TaskThreads}</td><td>how many tasks run, those that wait, whether it is closed</td><td>none</td></tr>
 * <tr><td>{@code OverdueCalls}</td><td>how many calls are overdue</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API, except {@code Timekeeper}: may change in any release.
 */
@NullMarked
package dev.podcache.time;

import org.jspecify.annotations.NullMarked;
