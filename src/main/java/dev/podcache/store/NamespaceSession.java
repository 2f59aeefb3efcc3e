package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lists and watches of one namespace. Reports their answers and events to the {@link NamespaceWatch}, and when each
 * list began.
 */
final class NamespaceSession<T extends HasMetadata> implements ReflectorSink<T>, ListerWatcher<T> {

    final Reflector<T> reflector;
    private final NamespaceWatch<T> namespace;
    private final ListerWatcher<T> server;
    private volatile long listBegunAt;
    private volatile boolean listing;
    private volatile @Nullable WatchHandle handle;

    /** Makes a session that is not started. */
    NamespaceSession(NamespaceWatch<T> namespace, ListerWatcher<T> server, Recovery recovery) {
        this.namespace = namespace;
        this.server = server;
        this.reflector = Reflector.confirming(this, this, recovery);
    }

    /** Returns whether a list is in flight, so that its answer or its failure follows. */
    boolean isListing() {
        return listing;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        listBegunAt = namespace.tick();
        listing = true;
        return server.list(timeout);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        // the answer to a list may have been of no use
        listing = false;
        WatchHandle opened = server.watch(resourceVersion, serverTimeout, events);
        handle = opened;
        return opened;
    }

    /** Names the connection that carries the watch, or returns "". */
    String connection() {
        WatchHandle latest = handle;
        return latest == null ? "" : latest.connection();
    }

    @Override
    public void replace(List<Fetched<T>> items, String resourceVersion) {
        listing = false;
        namespace.replaced(this, items, resourceVersion, listBegunAt);
    }

    @Override
    public void upsert(Fetched<T> fetched) {
        namespace.upserted(this, fetched);
    }

    @Override
    public void delete(Fetched<T> last) {
        namespace.deleted(this, last);
    }

    @Override
    public void connected() {
        listing = false;
        namespace.connected(this);
    }

    @Override
    public void resumed() {
        namespace.resumed(this);
    }

    @Override
    public void disconnected(ApiServerException cause) {
        listing = false;
        namespace.disconnected(this, cause);
    }

    @Override
    public String toString() {
        return server.toString();
    }
}
