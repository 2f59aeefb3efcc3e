package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.node.NodeLister;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import dev.podcache.reflector.Recovery;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    /** The kubelet's default. */
    private static final Duration DEFAULT_TTL = Duration.ofSeconds(60);

    private final Supplier<Fabric8ApiServer> server;
    private final boolean ownsServer;
    private @Nullable String node;
    private @Nullable NodeLister nodeLister;
    private ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;
    private final Map<ObjectKind<?>, ChangeDetectionStrategy> strategies = new HashMap<>();
    private Duration readTimeout = StoreOptions.DEFAULT_READ_TIMEOUT;
    private WatchTimes watchTimes = WatchTimes.DEFAULT;
    private Duration defaultTtl = DEFAULT_TTL;
    private long payloadBudget = Long.MAX_VALUE;
    private Duration maxStaleness = Duration.ZERO;
    private PodcacheMetrics metrics = PodcacheMetrics.NONE;

    PodcacheBuilder(Supplier<Fabric8ApiServer> server, boolean ownsServer) {
        this.server = server;
        this.ownsServer = ownsServer;
    }

    /**
     * The Node whose annotation {@code node.alpha.kubernetes.io/ttl} sets the TTL under {@link
     * ChangeDetectionStrategy#CACHE}; it is watched as long as the cache is open. Default: none, and {@link
     * #defaultTtl} holds. The other strategies ignore it.
     *
     * @throws IllegalArgumentException if that is not a legal name
     */
    public PodcacheBuilder node(String name) {
        this.node = ObjectKey.validatedClusterScoped(name).name();
        return this;
    }

    /** Like {@link #node}, from a Node that is watched already; not closed with the cache. Takes precedence. */
    public PodcacheBuilder nodeLister(NodeLister lister) {
        this.nodeLister = Objects.requireNonNull(lister, "lister");
        return this;
    }

    /** Chooses how changes are detected. Default: {@link ChangeDetectionStrategy#WATCH}, as in the kubelet. */
    public PodcacheBuilder strategy(ChangeDetectionStrategy chosen) {
        this.strategy = Objects.requireNonNull(chosen, "strategy");
        return this;
    }

    /** Chooses how changes of objects of one kind are detected, whatever {@link #strategy(ChangeDetectionStrategy)} says. */
    public PodcacheBuilder strategy(ObjectKind<?> kind, ChangeDetectionStrategy chosen) {
        strategies.put(Objects.requireNonNull(kind, "kind"), Objects.requireNonNull(chosen, "strategy"));
        return this;
    }

    /**
     * The longest that a get blocks under {@link ChangeDetectionStrategy#GET} and {@link
     * ChangeDetectionStrategy#CACHE}. Default: 10 s.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder readTimeout(Duration timeout) {
        this.readTimeout = Durations.positive("readTimeout", timeout);
        return this;
    }

    /**
     * The longest that a get blocks under {@link ChangeDetectionStrategy#WATCH}, for the first list and
     * watch of an object. Default: 1 s.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder firstSyncTimeout(Duration timeout) {
        this.watchTimes = new WatchTimes(timeout, watchTimes.idleAfter());
        return this;
    }

    /**
     * Closes the watch of an object that was not read for this long under {@link ChangeDetectionStrategy#WATCH}, at most
     * half as long again later; the next get reopens it. A caller that reads periodically gives several of its periods.
     * Default: five minutes.
     *
     * @throws IllegalArgumentException unless it is at least a minute
     */
    public PodcacheBuilder idleAfter(Duration unread) {
        this.watchTimes = new WatchTimes(watchTimes.firstSync(), unread);
        return this;
    }

    /**
     * The TTL where the Node's annotation does not say. Zero means that every get asks. Default: 60 s.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public PodcacheBuilder defaultTtl(Duration ttl) {
        this.defaultTtl = Durations.atLeast(Duration.ZERO, "defaultTtl", ttl);
        return this;
    }

    /**
     * The most bytes of Secrets and ConfigMaps, as they come over the wire, to hold under {@link
     * ChangeDetectionStrategy#CACHE}; over it, what was read least is forgotten and fetched again when it is read.
     * Default: no bound. The other strategies ignore it.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder payloadBudget(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("payloadBudget must be a positive number of bytes, but is " + bytes);
        }
        this.payloadBudget = bytes;
        return this;
    }

    /**
     * Has {@link ChangeDetectionStrategy#CACHE} serve an object that is older than the TTL, by at most {@code
     * maxStaleness}, at once and refresh it meanwhile, so that no get waits for what is read often, and refreshes do
     * not come all at once. Default: off, and gets wait for the refresh. The other strategies ignore it.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder backgroundRefresh(Duration maxStaleness) {
        this.maxStaleness = Durations.positive("backgroundRefresh", maxStaleness);
        return this;
    }

    /** The listener for what the caches do. Default: none. */
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
        Timekeeper timekeeper = apiServer.timekeeper();
        Recovery recovery = new Recovery(timekeeper);
        StoreOptions options =
                new StoreOptions(timekeeper, readTimeout, budget(apiServer), metrics, maxStaleness(), recovery);
        CacheStores stores = new CacheStores(
                apiServer, options, ttlSource(apiServer, recovery, parts), watchTimes, Map.copyOf(strategies), strategy);
        parts.register(stores);
        return new Podcache(new Managers(stores), parts);
    }

    private PayloadBudget budget(Fabric8ApiServer apiServer) {
        Timekeeper timekeeper = apiServer.timekeeper();
        if (payloadBudget == Long.MAX_VALUE) {
            return PayloadBudget.unlimited(timekeeper);
        }
        if (!usesCache()) {
            log.info(
                    "payloadBudget has no effect under strategy {}: only CACHE can fetch again what it forgot",
                    strategy);
            return PayloadBudget.unlimited(timekeeper);
        }
        return PayloadBudget.ofBytes(payloadBudget, timekeeper);
    }

    private boolean usesCache() {
        return strategy == ChangeDetectionStrategy.CACHE || strategies.containsValue(ChangeDetectionStrategy.CACHE);
    }

    private Duration maxStaleness() {
        if (!usesCache() && !maxStaleness.isZero()) {
            log.info("backgroundRefresh has no effect under strategy {}: only CACHE has a TTL to exceed", strategy);
            return Duration.ZERO;
        }
        return maxStaleness;
    }

    /** Follows the Node under CACHE only: the other strategies have no TTL. */
    private ObjectTtlSource ttlSource(Fabric8ApiServer apiServer, Recovery recovery, Closer parts) {
        NodeLister lister = nodeLister;
        String own = node;
        if (lister == null || !usesCache()) {
            if (own == null || !usesCache()) {
                return new DefaultTtl(TimeUnit.NANOSECONDS.convert(defaultTtl), "default, no Node was named");
            }
            lister = NodeLister.following(
                    own, apiServer.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + own), recovery);
            parts.register(lister::close);
        }
        NodeTtlSource source = NodeTtlSource.of(lister, defaultTtl);
        parts.register(source::close);
        return source;
    }

    /** The TTL of a cache that knows no Node. */
    private record DefaultTtl(long ttlNanos, String origin) implements ObjectTtlSource {}
}
