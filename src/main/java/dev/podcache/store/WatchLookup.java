package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The result of a lookup for a get that is not a hit.
 *
 * @param dropped whether the entry was dropped, so the caller must look again
 * @param answer the answer to return; null if the get has to wait for {@code change}
 * @param stale whether the answer is unconfirmed
 * @param change completed with the current answer, or with null when the caller should look again; null with an answer
 */
record WatchLookup<T>(
        boolean dropped,
        @Nullable Answer<T> answer,
        boolean stale,
        @Nullable ApiServerException failure,
        @Nullable CompletableFuture<@Nullable Answer<T>> change) {}
