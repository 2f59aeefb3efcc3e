/**
 * The chaos run: two caches of different strategies, whose pods come, change and go, read all the time while
 * their objects change and everything between them and the API server fails. What each read may answer is
 * computed from a history that the writer of the objects keeps, so a run finds out by itself which promise was
 * broken, on which object, after what. The schedule of faults and of everything else comes from a seed; against
 * real processes, their timing does not.
 *
 * <p>Reading order: {@link ChaosRun} (the phases of a run), {@link History} and {@link Claims} (the model), {@link
 * Checker} and {@link Refreshes} (the promises), the actors {@link ObjectChurn}, {@link PodChurn} and {@link Reader},
 * {@link FaultSchedule} and its {@link Fault}s.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th></tr>
 * <tr><td>a {@link History}</td><td>its versions; no other lock is taken under it</td></tr>
 * <tr><td>a {@link Journal}</td><td>its lines; no other lock is taken under it</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.chaos;

import org.jspecify.annotations.NullMarked;
