/** The subcommand {@code hollow}: many hollow nodes, and pods for them. *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.hollow;

import org.jspecify.annotations.NullMarked;
