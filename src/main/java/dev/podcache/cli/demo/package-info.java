/**
 * The subcommand {@code demo}: three strategies side by side on API servers in this process.
 */
@NullMarked
package dev.podcache.cli.demo;

import org.jspecify.annotations.NullMarked;
