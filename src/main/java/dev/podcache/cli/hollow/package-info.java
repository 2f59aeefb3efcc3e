/** The subcommand {@code hollow}: many hollow nodes, and pods for them. */
@NullMarked
package dev.podcache.cli.hollow;

import org.jspecify.annotations.NullMarked;
