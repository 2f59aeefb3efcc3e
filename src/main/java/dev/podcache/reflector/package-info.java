/**
 * Keeps a {@link dev.podcache.reflector.ReflectorSink} equal to a selection of the server's objects, eventually:
 * list, watch, resume, and list again when the server no longer knows from where. {@link
 * dev.podcache.reflector.Reflector} is the loop, driven by callbacks and timers, without a thread of its own. Follows
 * client-go's {@code tools/cache/reflector.go}.
 *
 * <p>Read {@code ReflectorSink}, {@code Reflector}, {@code ReflectorLoop} (the attempts), {@code WatchAttempt} (what one
 * watch tells), {@code ResumePoint}, {@code WatchHealth}, {@code WatchEnd} and {@code RetryPauses}. {@code Recovery} decides for
 * all reflectors of a server when they try again; it has {@code PendingAttempts}, with an {@code AttemptQueue} for lists
 * and one for watches, and an {@code Outage}.
 *
 * <table>
 * <caption>Locks, never taken inside one another but for the timer's and that of the token bucket</caption>
 * <tr><th>lock</th><th>covers</th></tr>
 * <tr><td>{@code Steps}</td><td>which steps of a reflector wait for the one that runs</td></tr>
 * <tr><td>{@code CurrentAttempt}</td><td>which attempt is the current one, its watch and its timer</td></tr>
 * <tr><td>{@code SinkCalls}</td><td>whether the sink is being called</td></tr>
 * <tr><td>{@code Recovery}</td><td>all pending attempts, and whether the server serves anybody</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.reflector;

import org.jspecify.annotations.NullMarked;
