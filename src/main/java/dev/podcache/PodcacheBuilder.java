package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.node.NodeLister;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Reference;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of a {@link Podcache}; each has a default. Every setter refuses a value that cannot work, quoting it. Not
 * thread-safe.
 */
public final class PodcacheBuilder {

    private static final Logger log = LoggerFactory.getLogger(Podcache.class);

    /** The kubelet's. */
    private static final Duration DEFAULT_TTL = Duration.ofSeconds(60);

    private final Supplier<Fabric8ApiServer> server;
    private final boolean ownsServer;
    private @Nullable String node;
    private @Nullable NodeLister nodeLister;
    private ChangeDetectionStrategy strategy = ChangeDetectionStrategy.CACHE;
    private Duration readTimeout = StoreOptions.DEFAULT_READ_TIMEOUT;
    private Duration defaultTtl = DEFAULT_TTL;
    private long payloadBudget = Long.MAX_VALUE;
    private PodcacheMetrics metrics = PodcacheMetrics.NONE;

    PodcacheBuilder(Supplier<Fabric8ApiServer> server, boolean ownsServer) {
        this.server = server;
        this.ownsServer = ownsServer;
    }

    /**
     * The Node whose annotation {@code node.alpha.kubernetes.io/ttl} sets the TTL under {@link ChangeDetectionStrategy#CACHE}; it is
     * watched as long as the cache is open. Default: none, and {@link #defaultTtl} holds. The other strategies ignore it.
     *
     * @throws IllegalArgumentException if that is not a legal name
     */
    public PodcacheBuilder node(String name) {
        this.node = ObjectKey.validatedClusterScoped(name).name();
        return this;
    }

    /** The same from a Node that is watched already; not closed with the cache. Takes precedence over {@link #node}. */
    public PodcacheBuilder nodeLister(NodeLister lister) {
        this.nodeLister = Objects.requireNonNull(lister, "lister");
        return this;
    }

    /** How changes are detected. Default: {@link ChangeDetectionStrategy#CACHE}. */
    public PodcacheBuilder strategy(ChangeDetectionStrategy chosen) {
        if (chosen == ChangeDetectionStrategy.WATCH) {
            throw new IllegalArgumentException(
                    "strategy WATCH is not available in this version: choose CACHE, or GET to ask every time");
        }
        this.strategy = Objects.requireNonNull(chosen, "strategy");
        return this;
    }

    /**
     * The longest that a get blocks. Default: 10 s.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder readTimeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException(
                    "readTimeout " + timeout + " leaves no time to read: it must be positive");
        }
        this.readTimeout = timeout;
        return this;
    }

    /**
     * The TTL where the Node's annotation does not say. Zero means that every get asks. Default: 60 s.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public PodcacheBuilder defaultTtl(Duration ttl) {
        if (ttl.isNegative()) {
            throw new IllegalArgumentException("defaultTtl " + ttl + " is negative: zero means that every get asks");
        }
        this.defaultTtl = ttl;
        return this;
    }

    /**
     * The most bytes of Secrets and ConfigMaps, as they come over the wire, to hold under {@link ChangeDetectionStrategy#CACHE}; over it,
     * what was read least is forgotten and fetched again when it is read. Default: no bound. The other strategies ignore it.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder payloadBudget(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException(
                    "payloadBudget " + bytes + " holds nothing: give a positive number of bytes, or none for no bound");
        }
        this.payloadBudget = bytes;
        return this;
    }

    /** Who is told what the caches do. Default: nobody. */
    public PodcacheBuilder metrics(PodcacheMetrics listener) {
        this.metrics = Objects.requireNonNull(listener, "metrics");
        return this;
    }

    /** Makes the cache. Makes no request and does not wait for one. */
    public Podcache build() {
        Closer parts = Closer.create();
        Fabric8ApiServer apiServer = server.get();
        if (ownsServer) {
            parts.register(apiServer::close);
        }
        StoreOptions options = new StoreOptions(apiServer.timekeeper(), readTimeout, budget(apiServer), metrics);
        Stores stores = strategy == ChangeDetectionStrategy.GET
                ? new Stores(apiServer, options, parts, null)
                : new Stores(apiServer, options, parts, ttlSource(apiServer, parts));
        return new Podcache(
                stores.manager(ObjectKind.SECRET, PodReferences::secrets),
                stores.manager(ObjectKind.CONFIG_MAP, PodReferences::configMaps),
                parts);
    }

    private PayloadBudget budget(Fabric8ApiServer apiServer) {
        Timekeeper timekeeper = apiServer.timekeeper();
        if (payloadBudget == Long.MAX_VALUE) {
            return PayloadBudget.unlimited(timekeeper);
        }
        if (strategy == ChangeDetectionStrategy.GET) {
            log.info("payloadBudget has no effect: strategy GET holds no payloads");
        }
        return PayloadBudget.ofBytes(payloadBudget, timekeeper);
    }

    private ObjectTtlSource ttlSource(Fabric8ApiServer apiServer, Closer parts) {
        NodeLister lister = nodeLister;
        String own = node;
        if (lister == null) {
            if (own == null) {
                return new DefaultTtl(TimeUnit.NANOSECONDS.convert(defaultTtl), "default, no Node was named");
            }
            lister = NodeLister.following(
                    own,
                    apiServer.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + own),
                    apiServer.timekeeper(),
                    () -> ThreadLocalRandom.current().nextDouble());
            parts.register(lister::close);
        }
        NodeTtlSource source = NodeTtlSource.of(lister, defaultTtl);
        parts.register(source::close);
        return source;
    }

    /** The TTL of a cache that knows no Node. */
    private record DefaultTtl(long ttlNanos, String origin) implements ObjectTtlSource {}

    /** What the two managers are made of alike. */
    private record Stores(
            Fabric8ApiServer server,
            StoreOptions options,
            Closer parts,
            @Nullable ObjectTtlSource ttl) {

        <T extends HasMetadata> Manager<T> manager(
                ObjectKind<T> kind, Function<Pod, ? extends Set<Reference>> references) {
            if (ttl == null) {
                DirectObjectStore<T> store = new DirectObjectStore<>(kind, server.getter(kind), options);
                parts.register(store::close);
                return Manager.simple(store);
            }
            TtlObjectStore<T> store = new TtlObjectStore<>(kind, server.getter(kind), ttl, options);
            parts.register(store::close);
            return Manager.caching(store, references);
        }
    }
}
