package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Counts the writes through an API, and knows when the last request was sent. Thread-safe.
 *
 * @param <T> the model class
 */
final class CountedApi<T> implements ObjectApi<T> {

    private final ObjectApi<T> api;
    private final Timekeeper timekeeper;
    private final WriteCounter objects = new WriteCounter();
    private final WriteCounter statuses = new WriteCounter();
    private volatile long sentAt; // nanoseconds

    CountedApi(ObjectApi<T> api, Timekeeper timekeeper) {
        this.api = api;
        this.timekeeper = timekeeper;
        this.sentAt = timekeeper.nanoTime();
    }

    /** Returns the counts of {@link #create} and {@link #update}. */
    WriteCounter objects() {
        return objects;
    }

    /** Returns the counts of {@link #patchStatus}. */
    WriteCounter statuses() {
        return statuses;
    }

    /** Returns the time since the last request, whatever its outcome; since the creation of this object if none was sent. */
    Duration sinceRequest() {
        return Duration.ofNanos(timekeeper.nanoTime() - sentAt);
    }

    private ObjectApi<T> sending() {
        sentAt = timekeeper.nanoTime();
        return api;
    }

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        return sending().get(key);
    }

    @Override
    public CompletableFuture<T> create(T object) {
        return objects.counted(sending().create(object));
    }

    @Override
    public CompletableFuture<T> update(T object) {
        return objects.counted(sending().update(object));
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        return sending().patch(key, patch);
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        return statuses.counted(sending().patchStatus(key, patch));
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        return sending().delete(key, uid);
    }

    @Override
    public CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        return sending().deleteGracefully(key, uid);
    }
}
