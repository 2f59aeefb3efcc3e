/**
 * The ports to the API server, independent of any client library. {@link dev.podcache.apiserver.ObjectGetter} reads one
 * object, {@link dev.podcache.apiserver.ListerWatcher} lists and watches many, {@link dev.podcache.apiserver.ObjectApi}
 * reads and writes for a node agent, {@link dev.podcache.apiserver.TokenRequests} requests tokens of ServiceAccounts, {@link
 * dev.podcache.apiserver.AccessReviews} reviews tokens and accesses, and {@link dev.podcache.apiserver.CachedReviews} remembers
 * and repeats what was reviewed.
 * Every call is a single attempt, asynchronous, and fails with {@link
 * dev.podcache.apiserver.ApiServerException}. {@link dev.podcache.apiserver.Retries} is the retry policy of all loops. {@link
 * dev.podcache.apiserver.Transform} applies a user's function to what is read.
 *
 * <p>Read {@code ObjectGetter}, {@code ReadSource}, {@code Fetched}, {@code ListerWatcher}, {@code WatchEvent},
 * {@code ApiServerException}, {@code ObjectApi}; then, to implement the ports, {@code ErrorAnswer}, {@code
 * NoAnswer} and {@code ServerJson}.
 *
 * <p>Lock: the monitor of {@code CachedReviews}; inside it, only that of the timer is taken.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.apiserver;

import org.jspecify.annotations.NullMarked;
