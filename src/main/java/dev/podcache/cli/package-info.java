/**
 * The program {@code podcache}: {@code run} is a node of a cluster, {@code observe} watches a node and changes nothing,
 * {@code demo} shows both without a cluster, {@code controllers} runs the controllers of nodes. Only this package and
 * its subpackages read flags and the environment, use clocks and threads directly, or exit; no other package imports
 * them. Data goes to standard output, logs and errors go to standard error.
 *
 * <p>Start reading at {@code Main} and {@code RunCommand}. Then {@code output} (events and how they are written), {@code
 * config} (flags, configuration file, cluster), {@code observe} (reports and the subcommand {@code observe}) and {@code
 * demo}. The node itself is {@link dev.podcache.kubelet.agent.NodeAgent}.
 *
 * <p>Locks: none in this package; the packages below it document theirs.
 *
 * <p>Not API, except {@code Main.run}: may change in any release.
 */
@NullMarked
package dev.podcache.cli;

import org.jspecify.annotations.NullMarked;
