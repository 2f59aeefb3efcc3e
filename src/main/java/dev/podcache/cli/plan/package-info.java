/**
 * The subcommand {@code plan}: options in, a {@link dev.podcache.controlplane.planner.Plan} for each profile, and out as
 * a table, JSON or a picture. Read {@code PlanCommand}. Has no locks.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.plan;

import org.jspecify.annotations.NullMarked;
