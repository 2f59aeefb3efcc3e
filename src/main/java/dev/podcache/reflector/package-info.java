/**
 * Keeps a {@link dev.podcache.reflector.ReflectorSink} equal to a selection of the server's objects, eventually:
 * list, watch, resume, and list again when the server no longer knows from where. {@link
 * dev.podcache.reflector.Reflector} is the loop, driven by callbacks and timers, without a thread of its own. Follows
 * client-go's {@code tools/cache/reflector.go}.
 *
 * <p>Read {@code ReflectorSink}, {@code Reflector}, {@code ResumePoint}, {@code WatchSpell}, {@code WatchEnd},
 * {@code RetryPauses}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code Reflector}</td><td>which attempt is the current one, and what it has
 * seen</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.reflector;

import org.jspecify.annotations.NullMarked;
