package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Hears what a server answers a store on the way: what the store knows is in doubt from a failure on, until a list, or
 * until a watch that began at a version brings a bookmark, or an immutable object that closes the watch.
 */
final class HeardServer implements ListerWatcher<Secret> {

    private final ListerWatcher<Secret> server;
    private final Doubts doubts;

    /** The part of a model that depends on what is heard. */
    interface Doubts {

        /** Puts what is known in doubt; {@code maybeReplaced} if a GET may take the place of what failed. */
        void failed(boolean maybeReplaced);

        /** Ends the doubt. */
        void confirmed();

        /** Records that a watch that began at a version has brought an immutable object, which cannot change any more. */
        void immutable();

        /** Records that a watch has followed a complete list. */
        void synced();
    }

    HeardServer(ListerWatcher<Secret> server, Doubts doubts) {
        this.server = server;
        this.doubts = doubts;
    }

    @Override
    public CompletableFuture<Listed<Secret>> list(Duration timeout) {
        return server.list(timeout).whenComplete((listed, failure) -> {
            if (failure == null) {
                doubts.confirmed();
            } else {
                doubts.failed(ApiServerException.reasonOf(failure) == FailureReason.FORBIDDEN);
            }
        });
    }

    @Override
    public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
        boolean[] confirms = {!version.isEmpty()};
        return server.watch(version, serverTimeout, event -> {
            if (event instanceof WatchEvent.Opened<Secret>) {
                doubts.synced();
            }
            heard(event, confirms, events);
        });
    }

    @Override
    public boolean streamsLists() {
        return server.streamsLists();
    }

    /** Its first events are those of the list, which is not complete before the bookmark at its end. */
    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
        boolean[] confirms = {false};
        return server.streamList(serverTimeout, event -> heard(event, confirms, events));
    }

    private void heard(WatchEvent<Secret> event, boolean[] confirms, Consumer<WatchEvent<Secret>> events) {
        if (event instanceof WatchEvent.Bookmark<Secret> bookmark && bookmark.endsList()) {
            confirms[0] = true;
            doubts.confirmed();
            doubts.synced();
        } else if (event instanceof WatchEvent.Ended<Secret> ended) {
            if (ended.failure() != null) {
                doubts.failed(false);
            }
        } else if (confirms[0] && event instanceof WatchEvent.Bookmark<Secret>) {
            doubts.confirmed();
        } else if (confirms[0] && isImmutable(event)) {
            doubts.immutable();
        }
        events.accept(event);
    }

    private static boolean isImmutable(WatchEvent<Secret> event) {
        return event instanceof WatchEvent.Upserted<Secret> upserted
                && Boolean.TRUE.equals(upserted.fetched().object().getImmutable());
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
