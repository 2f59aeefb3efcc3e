/**
 * The subcommand {@code observe}, and what {@code observe}, {@code run} and {@code demo} print of caches and reads.
 */
@NullMarked
package dev.podcache.cli.observe;

import org.jspecify.annotations.NullMarked;
