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
 * The contract through the adapter, on whatever server a client can reach. A subclass brings
 * the server and the strategy.
 */
public abstract class HttpStoreContract extends StoreContract {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Reached reached;
    private final KubernetesClient client;
    private final Fabric8ApiServer apiServer;
    private final Open open;

    /** A server that a client can reach. */
    public interface Reached extends AutoCloseable {

        /** A new one, which belongs to the caller. */
        KubernetesClient client();

        /** Ends the server, if it is one of the test's own. */
        @Override
        default void close() {}
    }

    /**
     * A store and what its interface leaves open.
     *
     * @param close closes it
     * @param afterJoining see {@link StoreContract#afterJoining}
     */
    protected record Open(Store<Secret> store, Runnable close, Consumer<Runnable> afterJoining) {}

    /**
     * A contract to check.
     *
     * @param reached closed after each test
     * @param strategy {@link #ttl} or {@link #watch}
     */
    protected HttpStoreContract(Reached reached, Function<Fabric8ApiServer, Open> strategy) {
        this.reached = reached;
        this.client = reached.client();
        this.apiServer = Fabric8ApiServer.of(client);
        this.open = strategy.apply(apiServer);
    }

    /** Strategy CACHE, with a minute for each answer. */
    protected static Open ttl(Fabric8ApiServer server) {
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET,
                server.getter(ObjectKind.SECRET),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(server.timekeeper()));
        return new Open(store, store::close, Runnable::run);
    }

    /** Strategy WATCH, with the patience of a busy machine. */
    protected static Open watch(Fabric8ApiServer server) {
        WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(server.timekeeper()),
                new WatchObjectStore.WatchTimes(Duration.ofSeconds(10), MINUTE));
        return new Open(store, store::close, check -> await().untilAsserted(check::run));
    }

    @AfterEach
    void closeConnections() {
        // runs before the contract's own cleaning up
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
    protected Server server() {
        return new ClientContractServer(client);
    }
}
