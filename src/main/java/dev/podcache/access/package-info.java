/**
 * Access that follows references: a controller keeps one Role in each namespace equal to what the owners there refer to
 * now, so that an operator may read exactly these objects. {@link dev.podcache.access.Grants} runs it, after a {@link
 * dev.podcache.access.GrantPolicy}; {@code podcache grants} is the same as a program.
 *
 * <p>Read {@code GrantPolicy} (what a file says) with {@code PolicyReader}, {@code FieldPath} and {@code RolePolicy} (what
 * an owner refers to), then {@code RoleLedger} (which names are granted, and when a Role is written) and {@code
 * PolicyController} (leadership, watches and requests of one policy). {@code RoleContent} is a Role as the ledger sees it,
 * {@code Definitions} finds kinds at the server, {@code ControllerRights} lists what the controller's identity needs, and
 * {@code GrantsDryRun} and {@code AuditedReads} find the reads that the Roles would refuse, and {@code
 * RoleRemoval} empties the Roles.
 *
 * <p>Locks: that of {@code GrantsDryRun}, for what it has seen. A {@code RoleLedger} is pure and confined to the loop of its {@code PolicyController}; so is everything
 * of that controller that changes.
 */
@NullMarked
package dev.podcache.access;

import org.jspecify.annotations.NullMarked;
