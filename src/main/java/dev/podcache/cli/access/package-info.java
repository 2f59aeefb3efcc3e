/**
 * What a manifest's pods refer to, and the access that a cache of it needs: the subcommands {@code refs} and {@code rbac},
 * which need no cluster; the subcommand {@code grants}; and what {@code doctor} shares with them.
 *
 * <p>Start reading at {@link dev.podcache.cli.access.PodTemplate} and {@link dev.podcache.cli.access.StrategyAccess}, the one
 * table of the verbs that each strategy needs; {@code docs/rbac.md} shows it.
 *
 * <p>Locks: none; everything runs on the thread of its command.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.access;

import org.jspecify.annotations.NullMarked;
