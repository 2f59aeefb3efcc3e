package dev.podcache.store;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Freshness;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows single objects, and reads those with a get that may be read and watched but not listed.
 *
 * <p>That is a last resort. It is taken only if a list is refused once more after a get of the same object was allowed:
 * a Node authorizer that lags behind a pod's binding refuses the first list and allows the get right after. And every
 * list tries the real one again.
 *
 * <p>The watch begins with the version that the get brought. Only when the server has forgotten that version, or there
 * was no object, it begins without one: the server walks over every object of the kind for such a watch.
 */
final class ListOrGet<T> {

    private static final Logger log = LoggerFactory.getLogger(ListOrGet.class);

    private final Function<ObjectKey, ListerWatcher<T>> byName;
    private final ObjectGetter<T> getter;
    private final AtomicBoolean said = new AtomicBoolean();

    ListOrGet(Function<ObjectKey, ListerWatcher<T>> byName, ObjectGetter<T> getter) {
        this.byName = byName;
        this.getter = getter;
    }

    ListerWatcher<T> of(ObjectKey key) {
        return new One(key, byName.apply(key));
    }

    private final class One implements ListerWatcher<T> {

        private final ObjectKey key;
        private final ListerWatcher<T> server;
        private volatile String watchedFrom = ""; // so much is known, unless it is forgotten
        private volatile boolean forgotten; // whether the server refused to watch from there

        One(ObjectKey key, ListerWatcher<T> server) {
            this.key = key;
            this.server = server;
        }

        @Override
        public CompletableFuture<Listed<T>> list(Duration timeout) {
            return server.list(timeout)
                    .handle((listed, failure) -> isForbidden(failure)
                            ? getThenList(timeout, ApiServerException.causeOf(failure))
                            : outcome(listed, failure))
                    .thenCompose(Function.identity());
        }

        private CompletableFuture<Listed<T>> getThenList(Duration timeout, Throwable refusal) {
            return getter.get(key, Freshness.LATEST, timeout)
                    .handle((fetched, failure) -> {
                        if (fetched == null && !isReason(failure, FailureReason.NOT_FOUND)) {
                            // the next list is not made before the server wants to be asked again
                            return CompletableFuture.<Listed<T>>failedFuture(
                                    Retries.asksForPause(failure) ? ApiServerException.causeOf(failure) : refusal);
                        }
                        return server.list(timeout)
                                .handle((listed, again) -> isForbidden(again)
                                        ? got(fetched, ApiServerException.causeOf(again))
                                        : outcome(listed, again))
                                .thenCompose(Function.identity());
                    })
                    .thenCompose(Function.identity());
        }

        private CompletableFuture<Listed<T>> got(@Nullable Fetched<T> fetched, Throwable refusal) {
            if (said.compareAndSet(false, true)) {
                log.info(
                        "{}; reading objects of this kind with a get before their watch: allow the verb list as well",
                        refusal.getMessage());
            }
            if (fetched == null) {
                return done(new Listed<>(ImmutableList.of(), ""));
            }
            // nothing has happened to the object between its version and what is known
            String version = ResourceVersions.isOlder(fetched.resourceVersion(), watchedFrom)
                    ? watchedFrom
                    : fetched.resourceVersion();
            return done(new Listed<>(ImmutableList.of(fetched), forgotten ? "" : version));
        }

        @Override
        public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
            watchedFrom = resourceVersion;
            return server.watch(resourceVersion, serverTimeout, event -> {
                if (event instanceof WatchEvent.Opened) {
                    forgotten = false;
                } else if (event instanceof WatchEvent.Ended<T> ended
                        && isReason(ended.failure(), FailureReason.EXPIRED)) {
                    forgotten = true;
                }
                events.accept(event);
            });
        }

        @Override
        public String toString() {
            return server.toString();
        }
    }

    private static <T> CompletableFuture<T> done(T value) {
        return CompletableFuture.completedFuture(value);
    }

    private static <T> CompletableFuture<T> outcome(@Nullable T value, @Nullable Throwable failure) {
        return value != null ? done(value) : CompletableFuture.failedFuture(ApiServerException.causeOf(failure));
    }

    private static boolean isForbidden(@Nullable Throwable failure) {
        return isReason(failure, FailureReason.FORBIDDEN);
    }

    private static boolean isReason(@Nullable Throwable failure, FailureReason reason) {
        return failure != null
                && ApiServerException.causeOf(failure) instanceof ApiServerException known
                && known.reason() == reason;
    }
}
