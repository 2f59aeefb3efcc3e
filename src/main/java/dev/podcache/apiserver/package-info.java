/**
 * The ports to the API server: what Podcache asks of it, with no client library in sight. {@link
 * dev.podcache.apiserver.ObjectGetter} reads one object, {@link dev.podcache.apiserver.ListerWatcher} follows some; every call
 * is one attempt, asynchronous, and fails with {@link dev.podcache.apiserver.ApiServerException}. {@link
 * dev.podcache.apiserver.RetryingGetter} is the one place that repeats a read.
 *
 * <p>Read {@code ObjectGetter}, {@code Freshness}, {@code Fetched}, {@code ListerWatcher}, {@code WatchEvent}, {@code
 * ApiServerException}; then, for who implements the ports, {@code ErrorAnswer} and {@code NoAnswer}.
 */
@NullMarked
package dev.podcache.apiserver;

import org.jspecify.annotations.NullMarked;
