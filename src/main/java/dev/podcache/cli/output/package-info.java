/**
 * What the program prints: {@link dev.podcache.cli.output.Event events} on standard output, as text or JSON, and logs on
 * standard error.
 */
@NullMarked
package dev.podcache.cli.output;

import org.jspecify.annotations.NullMarked;
