package dev.podcache.store;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One fetch under way, shared by all gets that may be answered by it. */
final class Flight<T> {

    /** Counts the flights of an entry from 1, so that a get can tell whether this one began before it did. */
    final long number;

    /** What was known when it began; decides which requests it is made of. */
    final @Nullable Answer<T> known;

    /** Completed once, always normally, after the entry took the outcome over. */
    final CompletableFuture<Outcome<T>> landed = new CompletableFuture<>();

    Flight(long number, @Nullable Answer<T> known) {
        this.number = number;
        this.known = known;
    }
}
