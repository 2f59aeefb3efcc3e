package dev.podcache.store;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ResourceVersions;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The list and watch of one object. Reports answers and failures to the {@link WatchEntry} until it is closed.
 *
 * <p>If {@code list} is forbidden, the object is read with a GET instead. This is a last resort, used only if the list
 * is forbidden again after a GET of the object was allowed: a Node authorizer that lags behind a pod's binding rejects
 * the first list and allows the GET right after. Each later list tries LIST first. After a GET, the watch begins at the
 * object's version. It begins without a version only if the server no longer knows that version, or the object did not
 * exist: for such a watch, the server iterates over every object of the kind.
 */
final class WatchSession<T extends HasMetadata> implements ObjectWatch<T>, ReflectorSink<T>, ListerWatcher<T> {

    private static final Logger log = LoggerFactory.getLogger(WatchSession.class);

    private final Reflector<T> reflector;
    private final WatchEntry<T> entry;
    private final WatchObjectStore<T> store;
    private final ListerWatcher<T> server;
    private volatile @Nullable WatchHandle handle; // of the latest watch
    private volatile String watchVersion = ""; // the object is known up to this version
    private volatile boolean versionExpired; // the server no longer knows that version

    /** Makes a session that is not open yet. */
    WatchSession(WatchEntry<T> entry, WatchObjectStore<T> store) {
        this.entry = entry;
        this.store = store;
        this.server = store.byName.apply(entry.key);
        this.reflector = Reflector.ofOneObject(this, this, store.options.recovery());
    }

    /** Begins to list and watch, on a worker: the thread that adds a reference must not wait for the network. */
    @Override
    public void open() {
        store.options.timekeeper().workers().execute(reflector::start);
    }

    @Override
    public void hurry() {
        reflector.hurry();
    }

    @Override
    public void close() {
        reflector.close();
    }

    @Override
    public boolean isOver() {
        return false;
    }

    @Override
    public String note() {
        return store.watchesNamespaces() ? "; watched by name, because the watch of the namespace was refused" : "";
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        return server.list(timeout)
                .exceptionallyCompose(refusal -> hasReason(FailureReason.FORBIDDEN, refusal)
                        ? getThenListAgain(timeout, refusal)
                        : CompletableFuture.failedFuture(refusal));
    }

    private CompletableFuture<Listed<T>> getThenListAgain(Duration timeout, Throwable refusal) {
        return store.getter
                .get(entry.key, ReadSource.QUORUM, timeout)
                .thenApply(ImmutableList::of)
                .exceptionallyCompose(failure -> hasReason(FailureReason.NOT_FOUND, failure)
                        ? CompletableFuture.completedFuture(ImmutableList.of())
                        // a pause that the server asked for applies to the next list as well
                        : CompletableFuture.failedFuture(Retries.asksForPause(failure) ? failure : refusal))
                .thenCompose(fetched -> server.list(timeout)
                        .exceptionallyCompose(secondRefusal -> hasReason(FailureReason.FORBIDDEN, secondRefusal)
                                ? CompletableFuture.completedFuture(listed(fetched, secondRefusal))
                                : CompletableFuture.failedFuture(secondRefusal)));
    }

    private Listed<T> listed(ImmutableList<Fetched<T>> fetched, Throwable refusal) {
        if (store.listRefused.compareAndSet(false, true)) {
            log.info(
                    "{}; reading objects of this kind with GET before watching them: grant the verb list to avoid this",
                    ApiServerException.causeOf(refusal).getMessage());
        }
        if (fetched.isEmpty() || versionExpired) {
            return new Listed<>(fetched, "");
        }
        // the object has not changed between its version and the known one
        String version = fetched.get(0).resourceVersion();
        return new Listed<>(fetched, ResourceVersions.isOlder(version, watchVersion) ? watchVersion : version);
    }

    private static boolean hasReason(FailureReason reason, Throwable failure) {
        return ApiServerException.reasonOf(failure) == reason;
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        watchVersion = resourceVersion;
        return opened(server.watch(resourceVersion, serverTimeout, events));
    }

    private WatchHandle opened(WatchHandle latest) {
        handle = latest;
        return latest;
    }

    @Override
    public String connection() {
        WatchHandle latest = handle;
        return latest == null ? "" : latest.connection();
    }

    @Override
    public boolean streamsLists() {
        return server.streamsLists();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return opened(server.streamList(serverTimeout, events));
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        server.streamRefused(failure);
    }

    @Override
    public void replace(List<Fetched<T>> items, String resourceVersion) {
        for (Fetched<T> item : items) {
            if (matches(item)) {
                entry.received(this, Answer.watched(store.kind, entry.key, item, store.options), "");
                return;
            }
        }
        entry.received(this, new Answer.Absent<>(0), "");
    }

    @Override
    public void upsert(Fetched<T> fetched) {
        if (matches(fetched)) {
            entry.received(
                    this, Answer.watched(store.kind, entry.key, fetched, store.options), fetched.resourceVersion());
        }
    }

    @Override
    public void delete(Fetched<T> last) {
        if (matches(last)) {
            entry.received(this, new Answer.Absent<>(0), last.resourceVersion());
        }
    }

    @Override
    public void connected() {
        versionExpired = false;
        entry.upToDate(this);
    }

    @Override
    public void resumed() {
        versionExpired = false;
        entry.unconfirmed(this);
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (cause.reason() == FailureReason.EXPIRED) {
            versionExpired = true;
        }
        entry.failed(this, cause);
    }

    private boolean matches(Fetched<T> fetched) {
        return isNamed(entry.key, fetched);
    }

    /** Returns whether this is the requested object. A proxy may ignore the field selector. */
    static boolean isNamed(ObjectKey key, Fetched<? extends HasMetadata> fetched) {
        ObjectMeta metadata = fetched.object().getMetadata();
        return key.name().equals(metadata.getName())
                && key.namespace().equals(Strings.nullToEmpty(metadata.getNamespace()));
    }

    @Override
    public String toString() {
        return server.toString();
    }
}
