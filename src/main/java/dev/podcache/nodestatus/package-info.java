/**
 * What a node says of itself: its registration and its status.
 *
 * <p>Read {@code NodeStatusSetter}.
 */
@NullMarked
package dev.podcache.nodestatus;

import org.jspecify.annotations.NullMarked;
