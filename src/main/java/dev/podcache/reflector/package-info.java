/**
 * Keeps a {@link dev.podcache.reflector.ReflectorSink} eventually equal to a selection of the server's objects: lists,
 * watches, resumes a lost watch, and lists again if the server no longer knows the version. {@link
 * dev.podcache.reflector.Reflector} is driven by callbacks and timers, without a thread of its own. Follows client-go's
 * {@code tools/cache/reflector.go}.
 *
 * <p>Read {@code ReflectorSink}, {@code Reflector}, {@code ReflectorLoop} (the attempts), {@code WatchAttempt} (one
 * watch), {@code StreamedAttempt} (a list and a watch with one request), {@code ResumePoint}, {@code WatchHealth},
 * {@code WatchEnd}, {@code Watchdogs}, {@code RetryPauses} and {@code LatestVersion}. {@code Recovery} decides for all
 * reflectors of a server when they try again. It uses an {@code Outage} and {@code PendingAttempts}, which has one
 * {@code AttemptQueue} for lists and one for watches.
 *
 * <table>
 * <caption>Locks, never taken inside one another, except those of the watchdogs, the timer and the token bucket</caption>
 * <tr><th>lock</th><th>guards</th></tr>
 * <tr><td>{@code Steps}</td><td>the steps of a reflector that wait for the running one</td></tr>
 * <tr><td>{@code CurrentAttempt}</td><td>the current attempt, its watch and its timer</td></tr>
 * <tr><td>{@code SinkCalls}</td><td>whether the sink is being called</td></tr>
 * <tr><td>{@code Watchdogs}</td><td>the order of all watchdogs, and their timer</td></tr>
 * <tr><td>{@code Recovery}</td><td>all pending attempts, and the outage</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.reflector;

import org.jspecify.annotations.NullMarked;
