package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A store of Secrets on a server without HTTP, both driven by hand.
 *
 * @param <S> the store
 */
abstract class StoreFixture<S extends Store<Secret>> implements AutoCloseable {

    static final ObjectKey DB = ObjectKey.of("default", "db");

    final ManualTimekeeper timekeeper;
    final FakeApiServer server;
    final S store;

    StoreFixture(ManualTimekeeper timekeeper, Function<FakeApiServer, S> store) {
        this.timekeeper = timekeeper;
        this.server = new FakeApiServer(timekeeper);
        this.store = store.apply(server);
    }

    void create(ObjectKey key, String value) {
        server.cluster().create(Secrets.of(key, value));
    }

    void update(ObjectKey key, String value) {
        server.cluster().update(Secrets.of(key, value));
    }

    void delete(ObjectKey key) {
        server.cluster().delete(Secrets.of(key, ""));
    }

    /** The value of the Secret, by a get that must not need to wait. */
    String get(ObjectKey key) {
        try {
            return Secrets.value(store.get(key.namespace(), key.name()));
        } catch (RuntimeException e) {
            throw NoLeaks.saw(e);
        } finally {
            NoLeaks.saw(store.state(key));
        }
    }

    String get() {
        return get(DB);
    }

    /** A get on a thread of its own. */
    CompletableFuture<String> getBehind(ObjectKey key) {
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(get(key));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    CompletableFuture<String> getBehind() {
        return getBehind(DB);
    }

    /** Lets the store hear of what has changed at the server, with the next get at the latest. */
    abstract void hear();

    @Override
    public abstract void close();
}
