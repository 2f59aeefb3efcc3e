/** Holds the documentation to the code. */
@NullMarked
package dev.podcache.documentation;

import org.jspecify.annotations.NullMarked;
