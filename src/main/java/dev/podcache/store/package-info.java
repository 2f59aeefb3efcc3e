/**
 * Holds the last answer for each referenced object. All strategies share one table of entries, one path for hits, one
 * count of references and one hook for changes. They differ in how an entry is kept fresh:
 * {@link dev.podcache.store.TtlObjectStore} fetches again when an answer is too old,
 * {@link dev.podcache.store.WatchObjectStore} watches, {@code PartlyPolledStore} does one or the other for each object,
 * and {@code DirectObjectStore} keeps nothing.
 *
 * <p>Read {@link dev.podcache.store.Store} (the contract), then {@code EntryStore} (what strategies that keep objects have
 * in common), {@code TtlObjectStore} (the path of a get), {@code TtlEntry} (the state table), {@code FreshnessClock} (why a
 * hit reads no clock), {@code Fetches} (the requests of a fetch and their retries), {@code EarlyRefusals} (a 403 that means
 * "not yet"), {@code Entry} and {@code EntryTable};
 * then {@code WatchObjectStore}, {@code WatchEntry}, {@code WatchState} and {@code ObjectWatch}, which is the entry's own,
 * over {@code ListOrGet}, or a place in the {@code NamespaceWatch} of its namespace; {@code NamespaceWatches} knows those
 * of all namespaces. {@code PendingGet} is a get that found no hit: each strategy has
 * one, and {@code PendingGet} lets either a thread or a callback wait for it. {@code LatestReads} are quorum reads of
 * watched objects. {@code Transitions} counts every change and reports it to {@code PayloadBudget} and observers.
 * {@code KnownObject} is what is told of an object, read at one moment, and {@code ObjectState} the part of it that has no
 * content. {@code Answer.SharedPayloads} stores equal payloads once.
 *
 * <table>
 * <caption>Locks, never taken inside one another</caption>
 * <tr><th>lock</th><th>guards</th><th>taken inside it</th></tr>
 * <tr><td>{@code EntryTable}</td><td>the entry of each key</td><td>none</td></tr>
 * <tr><td>monitor of an {@code Entry}</td><td>its references, answer, fetch or watch</td><td>none</td></tr>
 * <tr><td>{@code LatestReads}</td><td>the quorum reads in flight</td><td>none</td></tr>
 * <tr><td>{@code NamespaceWatches}</td><td>the watch of each namespace, its members, refusals</td><td>none</td></tr>
 * <tr><td>{@code FreshnessClock}</td><td>writes of the time</td><td>{@code RefCountedTicker}</td></tr>
 * </table>
 *
 * <p>{@code PayloadBudget} has no lock of its own: Caffeine weighs and chooses under one that no code of ours runs under.
 * The attempts of a fetch run one after another, so their state needs none.
 *
 * <p>No request, callback or completion of a future happens under these locks. One exception: a watch is made,
 * but not opened, under its entry's lock. The table is never changed under an entry's monitor.
 *
 * <p>The state of a {@code NamespaceWatch} and its members has no lock. Each change is a step; a sequential executor
 * runs steps one at a time, in order, under no lock. Steps call entries, and entries call the methods of
 * {@code ObjectWatch}, which add steps and wait for none: neither side ever waits for the other. While the lock of that
 * executor's queue is held, no other lock is taken and nothing is called; the counter of joins and lists is atomic.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.store;

import org.jspecify.annotations.NullMarked;
