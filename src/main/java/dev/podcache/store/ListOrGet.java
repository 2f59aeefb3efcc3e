package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists and watches one object by name, and reads it with a GET where {@code list} is forbidden. Thread-safe.
 *
 * <p>For a watch, the GET is a last resort, used only if the list is forbidden again after a GET of the object was
 * allowed: a Node authorizer that lags behind a pod's binding rejects the first list and allows the GET right after.
 * Each later list tries LIST first. After a GET, the watch begins at the object's version. It begins without a version
 * only if the server no longer knows that version, or the object did not exist: for such a watch, the server iterates
 * over every object of the kind.
 */
final class ListOrGet<T extends HasMetadata> implements ListerWatcher<T> {

    private static final Logger log = LoggerFactory.getLogger(ListOrGet.class);

    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final ObjectKey key;
    private final ListerWatcher<T> server;
    private final ObjectGetter<T> getter;
    private final Timekeeper timekeeper;
    private final BooleanSupplier closed;
    private final AtomicBoolean refusalLogged; // shared by all objects of the kind
    private volatile String watchVersion = ""; // the object is known up to this version
    private volatile boolean versionExpired; // the server no longer knows that version

    /**
     * Makes an instance for one object.
     *
     * @param server lists and watches the object by name
     * @param closed whether the store is closed; then no request is sent after an answer
     * @param refusalLogged set once the log says that objects of this kind are read with GET
     */
    ListOrGet(
            ObjectKey key,
            ListerWatcher<T> server,
            ObjectGetter<T> getter,
            Timekeeper timekeeper,
            BooleanSupplier closed,
            AtomicBoolean refusalLogged) {
        this.key = key;
        this.server = server;
        this.getter = getter;
        this.timekeeper = timekeeper;
        this.closed = closed;
        this.refusalLogged = refusalLogged;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        return list(timeout, () -> {});
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout, Runnable written) {
        Supplier<Duration> left = left(timeout);
        return server.list(timeout, written)
                .exceptionallyCompose(refusal -> get(left.get(), refusal)
                        .thenCompose(got -> mayGoOn(left.get())
                                ? server.list(left.get())
                                        .exceptionallyCompose(second -> isForbidden(second)
                                                ? CompletableFuture.completedFuture(listed(got, second))
                                                : CompletableFuture.failedFuture(second))
                                : CompletableFuture.completedFuture(listed(got, refusal))));
    }

    /**
     * Reads the object for a caller that does not watch from the answer on: one LIST, or one GET after it if that is
     * forbidden.
     *
     * @return with the version of the list, or after a GET that of the object, or "" if the object is absent
     */
    CompletableFuture<Listed<T>> read(Duration timeout) {
        Supplier<Duration> left = left(timeout);
        return server.list(timeout)
                .exceptionallyCompose(
                        refusal -> get(left.get(), refusal).thenApply(got -> new Listed<>(got, versionOf(got))));
    }

    /** Returns what is left of a timeout that begins now: the requests of one read share it. */
    private Supplier<Duration> left(Duration timeout) {
        long begun = timekeeper.nanoTime();
        return () -> timeout.minusNanos(timekeeper.nanoTime() - begun);
    }

    private boolean mayGoOn(Duration left) {
        return !closed.getAsBoolean() && left.compareTo(SHORTEST) > 0;
    }

    /**
     * Reads the object with a GET, after a list that was forbidden. Fails with {@code refusal} if that is another failure, if
     * the GET is forbidden too, if no time is left, or if the store is closed.
     */
    private CompletableFuture<ImmutableList<Fetched<T>>> get(Duration timeout, Throwable refusal) {
        if (!isForbidden(refusal) || !mayGoOn(timeout)) {
            return CompletableFuture.failedFuture(refusal);
        }
        return getter.get(key, ReadSource.QUORUM, timeout)
                .thenApply(ImmutableList::of)
                .exceptionallyCompose(failure -> ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND
                        ? CompletableFuture.completedFuture(ImmutableList.of())
                        : CompletableFuture.failedFuture(isForbidden(failure) ? refusal : failure));
    }

    private Listed<T> listed(ImmutableList<Fetched<T>> got, Throwable refusal) {
        if (refusalLogged.compareAndSet(false, true)) {
            log.info(
                    "{}; reading objects of this kind with GET before watching them: grant the verb list to avoid this",
                    ApiServerException.causeOf(refusal).getMessage());
        }
        String version = versionExpired ? "" : versionOf(got);
        // the object has not changed between its version and the known one
        return new Listed<>(got, ResourceVersions.isOlder(version, watchVersion) ? watchVersion : version);
    }

    private static String versionOf(ImmutableList<? extends Fetched<?>> got) {
        return got.isEmpty() ? "" : got.get(0).resourceVersion();
    }

    private static boolean isForbidden(Throwable failure) {
        return ApiServerException.reasonOf(failure) == FailureReason.FORBIDDEN;
    }

    /** Returns the object among what was listed, or null: a proxy may ignore the field selector. */
    @Nullable
    Fetched<T> itemOf(Iterable<Fetched<T>> items) {
        for (Fetched<T> item : items) {
            if (isNamed(item)) {
                return item;
            }
        }
        return null;
    }

    /** Returns whether this is the requested object. */
    boolean isNamed(Fetched<T> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        return key.name().equals(metadata.getName())
                && key.namespace().equals(Strings.nullToEmpty(metadata.getNamespace()));
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        watchVersion = resourceVersion;
        return server.watch(resourceVersion, serverTimeout, events);
    }

    /** Records that the server accepted the watch. */
    void accepted() {
        versionExpired = false;
    }

    /** Records that the server no longer knows the version from which to watch. */
    void expired() {
        versionExpired = true;
    }

    @Override
    public boolean streamsLists() {
        return server.streamsLists();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return server.streamList(serverTimeout, events);
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events, Runnable written) {
        return server.streamList(serverTimeout, events, written);
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        server.streamRefused(failure);
    }

    @Override
    public String toString() {
        return server.toString();
    }
}
