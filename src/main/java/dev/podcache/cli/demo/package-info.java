/**
 * The subcommand {@code demo}: an agent for each strategy, each on its own API server in this process, with the same
 * workload. Start reading at {@link dev.podcache.cli.demo.Demo}, then {@code DemoScript} (what happens), {@code DemoSide}
 * (one agent and its server) and {@code DemoNode} (a node agent as {@code run} starts it).
 *
 * <p>Locks: {@code ChangeTimer.seenAfter} guards itself; no other lock is taken inside it.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.demo;

import org.jspecify.annotations.NullMarked;
