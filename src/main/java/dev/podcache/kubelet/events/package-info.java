/**
 * Events for people: what {@code kubectl describe} shows of a node and its pods. Whoever has something to tell
 * takes an {@link dev.podcache.kubelet.events.EventRecorder}; {@link dev.podcache.kubelet.events.EventBroadcaster} writes to the
 * API server what is left after repetitions were counted, similar ones combined, and floods cut off. After
 * {@code tools/record} of client-go.
 *
 * <p>Read {@code EventRecorder}, {@code InvolvedObject}, {@code EventBroadcaster}, {@code EventSink}, {@code
 * EventCorrelator}, {@code EventAggregator}, {@code EventSpamFilter}, {@code EventKeys}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code EventSink}</td><td>what waits, whether somebody writes, whether it is
 * closed</td><td>the timer's</td></tr>
 * <tr><td>{@code EventNames}</td><td>the last time used</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.events;

import org.jspecify.annotations.NullMarked;
