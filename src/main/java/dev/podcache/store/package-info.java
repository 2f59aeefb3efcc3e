/**
 * Holds one value for each referenced object: one table of entries, one path for hits, one count of references and one
 * hook for every change of what is known. How an entry is kept fresh depends on the strategy: {@link
 * dev.podcache.store.TtlObjectStore} asks again when an answer has become too old, {@link
 * dev.podcache.store.WatchObjectStore} watches.
 *
 * <p>Read {@link dev.podcache.store.Store} (the contract), then {@code TtlObjectStore} (a get from above), {@code
 * TtlEntry} (the state table), {@code FreshnessClock} (why a hit reads no clock), {@code Fetches}
 * (which requests a fetch is made of), {@code Entry} and {@code EntryTable}; then
 * {@code WatchObjectStore}, {@code WatchEntry}, {@code WatchState} and {@code WatchSession}. Every change goes to
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
