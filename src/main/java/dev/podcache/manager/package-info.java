/**
 * Knows which objects the registered pods need. An agent registers pods with a {@link dev.podcache.manager.Manager},
 * which turns them into references on a {@link dev.podcache.store.Store}.
 *
 * <p>Read {@code Manager} (the contract), then {@code StoreManager}, {@code Registrations} and {@code Registration}.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>monitor of a {@code Registration}</td><td>what one referrer holds, of all kinds</td><td>those of the store</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.manager;

import org.jspecify.annotations.NullMarked;
