/**
 * Knows which objects the registered pods need. An agent registers pods with a {@link dev.podcache.manager.Manager},
 * which adds references to a {@link dev.podcache.store.Store}.
 *
 * <p>Read {@code Manager} (the contract), then {@code StoreManager}, {@code Registrations} and {@code Registration};
 * for several kinds {@code Managers}, for listeners {@code Subscription} and {@code GatheredEvents}, for counts
 * {@code CacheStats}.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>monitor of a {@code Registration}</td><td>one referrer's references</td><td>the locks of the store</td></tr>
 * <tr><td>monitor of {@code Managers}</td><td>the making of a manager</td><td>that of {@code Stores}</td></tr>
 * <tr><td>monitor of a {@code Line} of a {@code Subscription}</td><td>what a listener knows of an
 * object</td><td>none</td></tr>
 * <tr><td>monitor of a {@code GatheredEvents}</td><td>the events that a listener has not received
 * yet</td><td>that of the timer</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.manager;

import org.jspecify.annotations.NullMarked;
