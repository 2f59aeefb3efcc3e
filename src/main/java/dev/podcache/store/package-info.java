/**
 * One value for each referenced object: one map of entries, one path for hits, one multiset of referrers and one hook
 * for every change of what is known. What keeps an entry fresh is the strategy's: {@link
 * dev.podcache.store.TtlObjectStore} asks again when an answer has become too old, {@link
 * dev.podcache.store.WatchObjectStore} is told of changes.
 *
 * <p>Read {@link dev.podcache.store.Store} (the contract), then {@code TtlObjectStore} (a get from above), {@code
 * TtlEntry} (the state table), {@code FreshnessClock} (why a hit reads no clock), {@code Fetches}
 * (which requests a fetch is made of), {@code Entry} and {@code EntryTable}; then
 * {@code WatchObjectStore}, {@code WatchEntry}, {@code WatchState} and {@code WatchSession}. What hangs on every change is
 * {@code Transitions} and {@code PayloadBudget}; {@code DirectObjectStore} keeps nothing.
 *
 * <table>
 * <caption>Locks, never taken inside one another</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code EntryTable}</td><td>which entry a key has</td><td>none</td></tr>
 * <tr><td>monitor of an {@code Entry}</td><td>its references, answer, fetch or watch</td><td>none</td></tr>
 * <tr><td>{@code FreshnessClock}</td><td>writes of the time</td><td>{@code RefCountedTicker}</td></tr>
 * </table>
 *
 * <p>No request, callback or completion of a future happens under any of them, but that a watch is made, not opened,
 * under its entry's; and the table is not changed under an entry's monitor.
 */
@NullMarked
package dev.podcache.store;

import org.jspecify.annotations.NullMarked;
