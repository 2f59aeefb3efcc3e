/** Checks that the compiled library fits a class path, such as that of another version of fabric8's client. */
@NullMarked
package dev.podcache.linkage;

import org.jspecify.annotations.NullMarked;
