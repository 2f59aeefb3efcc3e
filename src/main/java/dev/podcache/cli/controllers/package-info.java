/**
 * The subcommand {@code controllers}: reads the flags, competes for leadership, and runs the controllers of {@link
 * dev.podcache.controlplane.nodelifecycle} and {@link dev.podcache.controlplane.ttl} while it leads.
 *
 * <p>Read {@code ControllersCommand}, {@code Leadership}, {@code RunningControllers}.
 *
 * <p>Locks: {@code Leadership} covers starting and closing the controllers; nothing else is locked inside it but what
 * closing a server locks.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.controllers;

import org.jspecify.annotations.NullMarked;
