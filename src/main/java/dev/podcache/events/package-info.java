/**
 * Events for people: what {@code kubectl describe} shows of a node and its pods.
 *
 * <p>Read {@code EventRecorder}.
 */
@NullMarked
package dev.podcache.events;

import org.jspecify.annotations.NullMarked;
