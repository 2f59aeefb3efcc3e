/**
 * The subcommand {@code observe}, and the reports that it shares with {@code run} and {@code demo}. Start reading at
 * {@link dev.podcache.cli.observe.NodeObserver} (an agent that only reads) and {@link
 * dev.podcache.cli.observe.ReportedNode} (a node agent that reports what it does). Both use {@code CacheReports}, which
 * counts reads ({@code ReadMonitor}), tracks watches ({@code WatchMonitor}) and finds changes of objects ({@code
 * ObjectMonitor}).
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code WatchMonitor}</td><td>counters since the last report, and totals</td><td>none</td></tr>
 * <tr><td>{@code CacheReports}</td><td>the counts of the last report</td><td>{@code EventWriter}</td></tr>
 * <tr><td>a bin of {@code ObjectMonitor.last}</td><td>the observation of an object</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.observe;

import org.jspecify.annotations.NullMarked;
