/**
 * The ports to the API server: what Podcache asks of it, with no client library in sight. {@link
 * dev.podcache.apiserver.ObjectGetter} reads one object, {@link dev.podcache.apiserver.ListerWatcher} follows some,
 * {@link dev.podcache.apiserver.ObjectApi} is what a node agent reads and writes with. Every call is one attempt,
 * asynchronous, and fails with {@link dev.podcache.apiserver.ApiServerException}. {@link
 * dev.podcache.apiserver.RetryingGetter} is the one place that repeats a read, and {@link
 * dev.podcache.apiserver.Retries} the one that says what is repeated by anybody, and after what pause.
 *
 * <p>Read {@code ObjectGetter}, {@code ReadConsistency}, {@code Fetched}, {@code ListerWatcher}, {@code WatchEvent},
 * {@code ApiServerException}, {@code ObjectApi}; then, to implement the ports, {@code ErrorAnswer} and {@code
 * NoAnswer}.
 */
@NullMarked
package dev.podcache.apiserver;

import org.jspecify.annotations.NullMarked;
