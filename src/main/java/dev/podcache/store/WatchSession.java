package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.ResourceVersions;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One list and watch of an object: tells the {@link WatchEntry} what the server says, until it is closed.
 *
 * <p>Where {@code list} is refused, the object is read with a get. That is a last resort, taken only if a list is refused
 * once more after a get of the same object was allowed: a Node authorizer that lags behind a pod's binding refuses the
 * first list and allows the get right after. Each later list begins with a LIST again. After a get, the watch begins with the
 * version of the object. It begins without one only if the server has forgotten that version, or there was no object:
 * the server walks over every object of the kind for such a watch.
 */
final class WatchSession<T extends HasMetadata> implements ReflectorSink<T>, ListerWatcher<T> {

    private static final Logger log = LoggerFactory.getLogger(WatchSession.class);

    final Reflector<T> reflector;
    private final WatchEntry<T> entry;
    private final WatchObjectStore<T> store;
    private final ListerWatcher<T> server;
    private volatile String watchedFrom = ""; // the version up to which the object is known, unless it is forgotten
    private volatile boolean forgotten; // the server refused to watch from there

    /** Makes a session that is not open yet. */
    WatchSession(WatchEntry<T> entry, WatchObjectStore<T> store) {
        this.entry = entry;
        this.store = store;
        this.server = store.byName.apply(entry.key);
        this.reflector = Reflector.ofOneObject(this, this, store.options.recovery());
    }

    /** Begins to list and watch, on a worker: a thread that adds a reference does not wait for the network. */
    void open() {
        store.options.timekeeper().workers().execute(reflector::start);
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        return server.list(timeout)
                .exceptionallyCompose(refusal -> is(FailureReason.FORBIDDEN, refusal)
                        ? getThenList(timeout, refusal)
                        : CompletableFuture.failedFuture(refusal));
    }

    private CompletableFuture<Listed<T>> getThenList(Duration timeout, Throwable refusal) {
        return store.getter
                .get(entry.key, ReadConsistency.LATEST, timeout)
                .thenApply(ImmutableList::of)
                .exceptionallyCompose(failure -> is(FailureReason.NOT_FOUND, failure)
                        ? CompletableFuture.completedFuture(ImmutableList.of())
                        // the next list is not made before the server wants to be asked again
                        : CompletableFuture.failedFuture(Retries.asksForPause(failure) ? failure : refusal))
                .thenCompose(got -> server.list(timeout)
                        .exceptionallyCompose(again -> is(FailureReason.FORBIDDEN, again)
                                ? CompletableFuture.completedFuture(listed(got, again))
                                : CompletableFuture.failedFuture(again)));
    }

    private Listed<T> listed(ImmutableList<Fetched<T>> got, Throwable refusal) {
        if (store.listRefused.compareAndSet(false, true)) {
            log.info(
                    "{}; reading objects of this kind with a get before their watch: allow the verb list as well",
                    ApiServerException.causeOf(refusal).getMessage());
        }
        if (got.isEmpty() || forgotten) {
            return new Listed<>(got, "");
        }
        // nothing has happened to the object between its version and the one that is known
        String version = got.get(0).resourceVersion();
        return new Listed<>(got, ResourceVersions.isOlder(version, watchedFrom) ? watchedFrom : version);
    }

    private static boolean is(FailureReason reason, Throwable failure) {
        return ApiServerException.causeOf(failure) instanceof ApiServerException known && known.reason() == reason;
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        watchedFrom = resourceVersion;
        return server.watch(resourceVersion, serverTimeout, events);
    }

    @Override
    public void replace(ImmutableList<Fetched<T>> items, String resourceVersion) {
        for (Fetched<T> item : items) {
            if (isOurs(item)) {
                entry.heard(this, present(item));
                return;
            }
        }
        entry.heard(this, new Answer.Absent<>(0));
    }

    @Override
    public void upsert(Fetched<T> fetched) {
        // a watch that began without a version starts with a state that may be older than the one that was got
        boolean old = entry.answer() instanceof Answer.Present<T> present
                && ResourceVersions.isOlder(fetched.resourceVersion(), present.resourceVersion);
        if (!old && isOurs(fetched)) {
            entry.heard(this, present(fetched));
        }
    }

    @Override
    public void delete(Fetched<T> last) {
        if (isOurs(last)) {
            entry.heard(this, new Answer.Absent<>(0));
        }
    }

    @Override
    public void connected() {
        forgotten = false;
        entry.upToDate(this);
    }

    @Override
    public void resumed() {
        forgotten = false;
        entry.unconfirmed(this);
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (cause.reason() == FailureReason.EXPIRED) {
            forgotten = true;
        }
        entry.failed(this, cause);
    }

    /** Returns whether that is the object that was asked for. A proxy may ignore the field selector. */
    private boolean isOurs(Fetched<T> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        ObjectKey key = entry.key;
        return key.name().equals(metadata.getName())
                && key.namespace().equals(Strings.nullToEmpty(metadata.getNamespace()));
    }

    private Answer<T> present(Fetched<T> fetched) {
        // never asked for its age: it is up to date as long as it is watched
        return Answer.present(store.kind, fetched, 0);
    }

    @Override
    public String toString() {
        return server.toString();
    }
}
