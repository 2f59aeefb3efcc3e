/**
 * Knows which objects the registered pods need. An agent registers pods with a {@link dev.podcache.manager.Manager},
 * which adds references to a {@link dev.podcache.store.Store}. An {@link dev.podcache.manager.ObjectCache} has the managers
 * of all kinds.
 *
 * <p>Read {@code Manager} (the contract), then {@code StoreManager} and {@code Registrations}, which remembers what each
 * referrer holds; for several kinds {@code Managers}, for listeners {@code Subscription} and {@code GatheredEvents}, for
 * the first reads {@code FirstReads}, for counts {@code CacheStats}, for changes of access {@code RbacWatch}.
 *
 * <p>An owner may read on behalf of a subject. Its registration then has a hold on each object, which follows the review of
 * what the subject may get; {@code StoreManager} asks the hold before and after each read, and {@code Subscription} before it
 * makes and delivers an event. References of such owners are marked, so that reads without an owner do not see what only they
 * hold.
 *
 * <p>No listener and no metric is called under these locks, and no watch is opened: {@code Registrations} collects what
 * follows from a change, and runs it when the lock is released.
 *
 * <table>
 * <caption>Locks, in the only order in which they may be taken</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>monitor of a {@code Registration}</td><td>one referrer's references</td><td>the locks of the store, and that of
 * {@code CachedReviews}</td></tr>
 * <tr><td>monitor of {@code Managers}</td><td>the making of a manager</td><td>that of {@code Stores}</td></tr>
 * <tr><td>monitor of a {@code Line} of a {@code Subscription}</td><td>what a listener knows of an
 * object</td><td>none</td></tr>
 * <tr><td>monitor of {@code RbacWatch}</td><td>when our own access is reviewed</td><td>that of the timer</td></tr>
 * <tr><td>monitor of a {@code GatheredEvents}</td><td>the events that a listener has not received
 * yet</td><td>that of the timer</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.manager;

import org.jspecify.annotations.NullMarked;
