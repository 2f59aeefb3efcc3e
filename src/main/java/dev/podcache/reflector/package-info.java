/**
 * Keeps a {@link dev.podcache.reflector.ReflectorSink} eventually equal to a selection of the server's objects: lists,
 * watches, resumes a lost watch, and lists again if the server no longer knows the version. {@link
 * dev.podcache.reflector.Reflector} is driven by callbacks and timers, without a thread of its own. Follows client-go's
 * {@code tools/cache/reflector.go}.
 *
 * <p>Read {@code ReflectorSink}, {@code Reflector} (the attempts), {@code WatchAttempt} (one watch or streamed list) and
 * {@code RetryPauses}. {@code Recovery} decides for all reflectors of a server when they try again, and has them look
 * for dead watches. It uses an {@code Outage} and {@code AttemptQueues}.
 *
 * <table>
 * <caption>Locks, never taken inside one another; inside that of the Recovery, those of the timekeeper and the token
 * buckets</caption>
 * <tr><th>lock</th><th>guards</th></tr>
 * <tr><td>{@code Reflector}</td><td>the current attempt with its watch and its timer, and the steps that wait for the
 * running one</td></tr>
 * <tr><td>{@code Recovery}</td><td>the open reflectors, their pending attempts, and the outage</td></tr>
 * </table>
 *
 * <p>Everything else of a reflector is used in its steps only, which run one at a time.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.reflector;

import org.jspecify.annotations.NullMarked;
