/**
 * What a node says of itself: its registration and its status.
 *
 * <p>Read {@code NodeStatusSetter}, then {@code NodeStatusSetters}, which makes those of an ordinary node from {@code HostFacts},
 * {@code NodeReservations} with {@code EvictionThresholds}, and {@code RuntimeHealth}; then the setters one by one.
 *
 * <p>Locks: {@code RuntimeHealth.lock} is a leaf; setters need none, since they run one after the other.
 */
@NullMarked
package dev.podcache.nodestatus;

import org.jspecify.annotations.NullMarked;
