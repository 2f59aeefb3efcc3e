/** Podcache. */
@NullMarked
package dev.podcache;

import org.jspecify.annotations.NullMarked;
