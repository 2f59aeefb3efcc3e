/** Holds the scripts in {@code .ci} to what they promise. */
@NullMarked
package dev.podcache.ci;

import org.jspecify.annotations.NullMarked;
