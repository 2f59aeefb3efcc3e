/**
 * One value for each referenced object: one map of entries, one path for hits, one multiset of referrers and one hook for every
 * change of what is known. What keeps an entry fresh is the strategy's: {@link dev.podcache.store.TtlObjectStore} asks again
 * when an answer has become too old.
 *
 * <p>Read {@link dev.podcache.store.Store} (the contract), then {@code TtlObjectStore} (a get from above), {@code TtlEntry} (the
 * state table), {@code AnswerFetch} (which requests a fetch is made of), {@code Entry} and {@code EntryTable}.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>bins of {@code EntryTable}'s maps</td><td>which entry a key has</td><td>{@code CoarseClock}</td></tr>
 * <tr><td>monitor of an {@code Entry}</td><td>its references, answer and flight</td><td>{@code CoarseClock}</td></tr>
 * </table>
 *
 * <p>No request, callback or completion of a future happens under any of them, and no map is changed under an entry's monitor.
 */
@NullMarked
package dev.podcache.store;

import org.jspecify.annotations.NullMarked;
