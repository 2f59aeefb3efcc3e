/**
 * The chaos run: three caches, one of each strategy, whose pods come, change and go, read all the time while their
 * objects change and everything between them and the API server fails. What each read may answer is computed from a
 * history that the writer of the objects keeps, so a run finds out by itself which promise was broken, on which object,
 * after what. The schedule of faults and of everything else comes from a seed; against real processes, their timing does
 * not.
 *
 * <p>A run goes in rounds: a few faults, each of another kind than all before it until every kind has struck, then calm,
 * in which some objects are not written and every cache has to equal the server. What is known of connections, watches
 * and requests comes from the proxy, the server and the HTTP client, never from what a cache says of itself.
 *
 * <p>{@code -Dchaos.seed} chooses the schedule, {@code random} one that is printed; {@code -Dchaos.minutes} asks for a
 * long run. What a run must find is listed in Mutants.md, and {@code mvn -Pmutants verify} tries it.
 *
 * <p>Reading order: {@link ChaosRun} (the phases of a run), {@link History} and {@link Claims} (the model), {@link
 * Checker}, {@link Order}, {@link Staleness}, {@link FetchRules}, {@link WatchLog}, {@link Handed} and {@link CalmPhase}
 * (the promises), {@link Rules} (their figures), {@link Minimums}, the actors {@link ObjectChurn}, {@link PodChurn} and
 * {@link ChaosReader}, {@link FaultSchedule} and its {@link ChaosFault}s.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@link FetchRules}</td><td>the GETs of one cache</td><td>a {@link Journal}'s</td></tr>
 * <tr><td>{@link WatchLog}</td><td>the watches of each object</td><td>none</td></tr>
 * <tr><td>{@link Order}</td><td>the answers of one cache</td><td>none</td></tr>
 * <tr><td>a {@link History}</td><td>its versions</td><td>none</td></tr>
 * <tr><td>a {@link Journal}</td><td>its lines</td><td>none</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.chaos;

import org.jspecify.annotations.NullMarked;
