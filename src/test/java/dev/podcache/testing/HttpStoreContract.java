package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;

/**
 * The store contract for the HTTP adapter, with any server that a client can connect to. A subclass provides the server
 * and the strategy.
 */
public abstract class HttpStoreContract extends StoreContract {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final StoreServer reached;
    private final KubernetesClient client;
    private final Fabric8ApiServer apiServer;
    private final Open open;

    /** A server that a client can connect to. */
    public interface StoreServer extends AutoCloseable {

        /** Returns a new client, which the caller must close. */
        KubernetesClient client();

        /** Stops the server if it belongs to the test. */
        @Override
        default void close() {}
    }

    /**
     * A store, and operations that its interface does not have.
     *
     * @param close closes the store
     * @param afterJoining see {@link StoreContract#afterJoining}
     */
    protected record Open(Store<Secret> store, Runnable close, Consumer<Runnable> afterJoining) {}

    /**
     * Creates a contract test.
     *
     * @param reached the server, which is closed after each test
     * @param strategy {@link #ttl}, {@link #watch} or {@link #watchNamespaces}
     */
    protected HttpStoreContract(StoreServer reached, Function<Fabric8ApiServer, Open> strategy) {
        this.reached = reached;
        this.client = reached.client();
        this.apiServer = Fabric8ApiServer.of(client);
        this.open = strategy.apply(apiServer);
    }

    /** Opens a store with strategy CACHE and a TTL of one minute. */
    protected static Open ttl(Fabric8ApiServer server) {
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET,
                server.getter(ObjectKind.SECRET),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(server.timekeeper()));
        return new Open(store, store::close, Runnable::run);
    }

    /** Opens a store with strategy WATCH. Its checks after joining wait long enough for a busy machine. */
    protected static Open watch(Fabric8ApiServer server) {
        WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(server.timekeeper()),
                new WatchObjectStore.WatchTimes(Duration.ofSeconds(10), MINUTE));
        return new Open(store, store::close, check -> await().untilAsserted(check::run));
    }

    /** Opens a store with strategy WATCH and one watch for each namespace. */
    protected static Open watchNamespaces(Fabric8ApiServer server) {
        WatchObjectStore<Secret> store = WatchObjectStore.ofNamespaces(
                ObjectKind.SECRET,
                server.byName(ObjectKind.SECRET),
                server.inNamespace(ObjectKind.SECRET),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(server.timekeeper()),
                new WatchObjectStore.WatchTimes(Duration.ofSeconds(10), MINUTE));
        return new Open(store, store::close, check -> await().untilAsserted(check::run));
    }

    @AfterEach
    void closeConnections() {
        // runs before the cleanup of the contract
        closeStore();
        apiServer.close();
        client.close();
        reached.close();
    }

    @Override
    protected Store<Secret> store() {
        return open.store();
    }

    @Override
    protected void closeStore() {
        open.close().run();
    }

    @Override
    protected void afterJoining(Runnable check) {
        open.afterJoining().accept(check);
    }

    @Override
    protected SecretServer server() {
        return new ClientContractServer(client);
    }
}
