/** Values of referenced objects, one entry each. */
@NullMarked
package dev.podcache.store;

import org.jspecify.annotations.NullMarked;
