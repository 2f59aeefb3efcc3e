/**
 * Records Events, which {@code kubectl describe} shows for a node and its pods. Code that reports something takes an
 * {@link dev.podcache.kubelet.events.EventRecorder}. {@link dev.podcache.kubelet.events.EventBroadcaster} writes the
 * events to the API server, after counting repetitions, combining similar events, and dropping events above a limit.
 * After {@code tools/record} of client-go.
 *
 * <p>Read {@code EventRecorder}, {@code InvolvedObject}, {@code EventBroadcaster}, {@code EventSink}, {@code
 * EventCorrelator}, {@code EventAggregator}, {@code EventSpamFilter}, {@code EventKeys}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code EventSink}</td><td>the queue of events, whether one is being written, whether it is
 * closed</td><td>none</td></tr>
 * <tr><td>{@code EventNames}</td><td>the last time used</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.events;

import org.jspecify.annotations.NullMarked;
