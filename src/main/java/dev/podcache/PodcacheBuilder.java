package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.apiserver.Transform;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Managers;
import dev.podcache.manager.RbacWatch;
import dev.podcache.manager.WatchScope;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.node.NodeLister;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Usage;
import dev.podcache.reflector.Recovery;
import dev.podcache.store.EarlyRefusals;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of a {@link Podcache}. Each has a default. Every setter rejects an impossible value and quotes it. Not
 * thread-safe.
 */
public final class PodcacheBuilder {

    private static final Logger log = LoggerFactory.getLogger(Podcache.class);

    /** The kubelet's default. */
    private static final Duration DEFAULT_TTL = Duration.ofSeconds(60);

    /** The longest that a review takes; then it is made again. */
    private static final Duration REVIEW_TIMEOUT = Duration.ofSeconds(10);

    private final Supplier<Fabric8ApiServer> server;
    private final boolean ownsServer;
    private @Nullable String node;
    private @Nullable NodeLister nodeLister;
    private ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;
    private final Map<ObjectKind<?>, ChangeDetectionStrategy> strategies = new HashMap<>();
    private final Map<ObjectKind<?>, WatchScope> scopes = new HashMap<>();
    private Duration readTimeout = StoreOptions.DEFAULT_READ_TIMEOUT;
    private WatchTimes watchTimes = WatchTimes.DEFAULT;
    private Duration defaultTtl = DEFAULT_TTL;
    private long payloadBudget = Long.MAX_VALUE;
    private final Map<ObjectKind<?>, Transform<?>> transforms = new HashMap<>();
    private Duration maxStaleness = Duration.ZERO;
    private PodcacheMetrics metrics = PodcacheMetrics.NONE;
    private boolean recordsStats;
    private @Nullable Predicate<ObjectKey> polled;
    private boolean serviceAccountsMustExist;
    private boolean watchesRbac;
    private final Set<Usage> followed = EnumSet.noneOf(Usage.class);
    private boolean grantsFollow;

    PodcacheBuilder(Supplier<Fabric8ApiServer> server, boolean ownsServer) {
        this.server = server;
        this.ownsServer = ownsServer;
    }

    /**
     * Names the Node whose annotation {@code node.alpha.kubernetes.io/ttl} sets the TTL under {@link
     * ChangeDetectionStrategy#CACHE}. The Node is watched until the cache is closed. Default: none, so {@link
     * #defaultTtl} applies. Under WATCH the TTL applies only to objects
     * that are polled ({@link #poll}). GET ignores it.
     *
     * @throws IllegalArgumentException if {@code name} is not a legal Kubernetes name
     */
    public PodcacheBuilder node(String name) {
        this.node = ObjectKey.validatedClusterScoped(name).name();
        return this;
    }

    /**
     * Like {@link #node}, for a Node that is watched already. Takes precedence. The cache does not close {@code
     * lister}.
     *
     * @hidden
     */
    @NotApi
    public PodcacheBuilder nodeLister(NodeLister lister) {
        this.nodeLister = Objects.requireNonNull(lister, "lister");
        return this;
    }

    /** Sets how changes are detected. Default: {@link ChangeDetectionStrategy#WATCH}, as in the kubelet. */
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
     * Chooses what one watch covers for objects of one kind, under {@link ChangeDetectionStrategy#WATCH}. Default:
     * {@link WatchScope#OBJECT}, which needs the least access. The other strategies ignore it.
     *
     * @throws IllegalArgumentException if {@code scope} is {@link WatchScope#NAMESPACE} and the kind is cluster-scoped
     */
    public PodcacheBuilder scope(ObjectKind<?> kind, WatchScope scope) {
        if (Objects.requireNonNull(scope, "scope") == WatchScope.NAMESPACE && !kind.namespaced()) {
            throw new IllegalArgumentException("scope NAMESPACE is for kinds in namespaces, but a " + kind
                    + " is in none: leave its scope at OBJECT");
        }
        scopes.put(kind, scope);
        return this;
    }

    /**
     * Sets the longest that a get blocks under {@link ChangeDetectionStrategy#GET} and
     * {@link ChangeDetectionStrategy#CACHE}, or with a {@code ReadConsistency}. Default: 10 s.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder readTimeout(Duration timeout) {
        this.readTimeout = Durations.positive("readTimeout", timeout);
        return this;
    }

    /**
     * Sets the longest that a get blocks under {@link ChangeDetectionStrategy#WATCH}, until the first list and watch of
     * an object succeed. The time counts from the moment the list is written to the server; until it is reached for the
     * first time, a get waits up to ten seconds more. Default: 1 s.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder firstSyncTimeout(Duration timeout) {
        this.watchTimes = new WatchTimes(Durations.positive("firstSyncTimeout", timeout), watchTimes.idleAfter());
        return this;
    }

    /**
     * Closes the watch of an object that was not read for this long under {@link ChangeDetectionStrategy#WATCH}; the
     * next get reopens it. The watch closes up to half this duration later. For a periodic reader, set it to several
     * periods. Default: five minutes.
     *
     * @throws IllegalArgumentException unless it is at least a minute
     */
    public PodcacheBuilder idleAfter(Duration unread) {
        this.watchTimes = new WatchTimes(watchTimes.firstSync(), unread);
        return this;
    }

    /**
     * Sets the TTL that applies when the Node's annotation gives none. Zero means that every get asks the API server.
     * Default: 60 s.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public PodcacheBuilder defaultTtl(Duration ttl) {
        this.defaultTtl = Durations.atLeast(Duration.ZERO, "defaultTtl", ttl);
        return this;
    }

    /**
     * Bounds the bytes of objects, counted as received, that are held under {@link ChangeDetectionStrategy#WATCH} and
     * {@link ChangeDetectionStrategy#CACHE} together. Over the bound, the least used objects are evicted and read again
     * at their next get. The bound is exceeded by at most the objects that are just being received. The watch of an
     * evicted object stays open, and its next change brings the object back. Evicting is not an event for listeners;
     * {@link dev.podcache.manager.ObjectEvent#previous} is empty after it. An object that is evicted before its watch is
     * accepted, as one larger than the bound is, is not an event until its next change. Default: no bound. {@link
     * ChangeDetectionStrategy#GET} ignores it.
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
     * Changes each object of one kind before it is kept, to drop what is not needed, such as annotations or most keys
     * of a payload. Applies under every strategy, once to each object that is received, before it is compared with the
     * known one. A second transform of a kind replaces the first. {@link #payloadBudget} still counts the bytes that
     * were received. Default: objects are kept as they are, without {@code managedFields}.
     *
     * <p>If {@code transform} throws, returns null, or changes the name, the namespace or the resourceVersion, the read
     * fails with {@link dev.podcache.object.FailureReason#UNREADABLE}. Under {@link ChangeDetectionStrategy#WATCH} and
     * {@link ChangeDetectionStrategy#CACHE} the known object is then returned as stale, and read again after growing
     * pauses.
     *
     * @param transform may modify its argument and return it. Called by many threads, which receive from the network:
     *     it must be thread-safe, fast, and must not block
     */
    public <T extends HasMetadata> PodcacheBuilder transform(ObjectKind<T> kind, UnaryOperator<T> transform) {
        transforms.put(kind, new Transform<>(kind, transform));
        return this;
    }

    /**
     * Limits {@link ChangeDetectionStrategy#WATCH} to objects that an owner needs for one of these usages, or without
     * naming a usage. Any other object is read once for each new reference, and kept as it was then: a pod reads its
     * environment variables only when a container starts. An object that does not exist is watched until it does; one
     * that is watched already stays so until its watch is next opened.
     * Default: all objects are watched. The other strategies ignore it.
     */
    public PodcacheBuilder watchOnly(Usage first, Usage... more) {
        followed.clear();
        followed.addAll(EnumSet.of(first, more));
        return this;
    }

    /**
     * Names objects that are polled as under {@link ChangeDetectionStrategy#CACHE} although their kind is under
     * {@link ChangeDetectionStrategy#WATCH}: objects that most clients of a cluster share. Each watch of such an object
     * makes its updates more expensive for the API server and slower for the writer. A node agent polls
     * {@code kube-root-ca.crt}. Needs the verb {@code get}. Default: none.
     *
     * @param keys returns whether an object is polled; must always return the same for an object. Called by many
     *     threads: must be thread-safe, fast, and must not block
     */
    public PodcacheBuilder poll(Predicate<ObjectKey> keys) {
        this.polled = Objects.requireNonNull(keys, "keys");
        return this;
    }

    /**
     * Serves an object that has exceeded the TTL by at most {@code maxStaleness} at once, under {@link
     * ChangeDetectionStrategy#CACHE}, and refreshes it in the background. Gets of frequently read objects then never
     * wait, and refreshes are spread over time. Default: off, so gets wait for the refresh. The other strategies ignore
     * it.
     *
     * @throws IllegalArgumentException unless it is positive
     */
    public PodcacheBuilder backgroundRefresh(Duration maxStaleness) {
        this.maxStaleness = Durations.positive("backgroundRefresh", maxStaleness);
        return this;
    }

    /**
     * Says that access follows references: something, such as {@code podcache grants}, adds the name of an object to a
     * Role of this identity once an owner refers to it. A refusal (403) of an object whose reference is new then means
     * "not yet". The API server is asked again after 50, 100, 200, 400 ms and so on, at most a second, until the
     * {@linkplain #firstSyncTimeout first-sync timeout} and five seconds more are over; the state is
     * {@link dev.podcache.object.CacheState#WAITING_FOR_ACCESS}. After that it is {@link
     * dev.podcache.object.CacheState#FORBIDDEN}, which is logged once, until a later attempt succeeds. A reference is new
     * until its object was read once; another owner that refers to a refused object makes it new again.
     *
     * <p>A get waits for access no longer than the first-sync timeout, then fails with the refusal. Under {@link
     * ChangeDetectionStrategy#WATCH} the asking goes on without it; under {@link ChangeDetectionStrategy#CACHE} the next
     * get asks; under {@link ChangeDetectionStrategy#GET}, which keeps no references, each get begins anew. A namespace
     * that may not be listed is watched object by object, see {@link #scope}, and each of these waits as said. Default:
     * off; a refusal then passes by itself within a second, as a Node authorizer needs.
     */
    public PodcacheBuilder grantsFollow() {
        this.grantsFollow = true;
        return this;
    }

    /** Sets the listener for the events of the caches. Default: none. */
    public PodcacheBuilder metrics(PodcacheMetrics listener) {
        this.metrics = Objects.requireNonNull(listener, "metrics");
        return this;
    }

    /**
     * Counts hits, for {@link dev.podcache.manager.CacheStats#hits} and for a hit ratio. Default: off, which costs a
     * hit nothing. If on, a hit takes about 5 ns longer (23 ns instead of 18) and still allocates nothing; the counter
     * is striped, so that threads do not contend. All other counts of {@link Podcache#stats} are always on.
     */
    public PodcacheBuilder recordStats() {
        this.recordsStats = true;
        return this;
    }

    /**
     * Watches Roles, ClusterRoles, RoleBindings and ClusterRoleBindings of the whole cluster, so that a change of access is
     * noticed in seconds. Without it, a subject that lost its right is served until the next review, for at most five
     * minutes; and a watch of the cache's own goes on for up to an hour after its access was revoked, because the API server
     * decides only when a watch begins.
     *
     * <p>After a change, what it may concern is reviewed again, for ten seconds once a second: what the API server decides by
     * is updated independently of what is watched. A watch that the cache may not begin any more is closed; its objects are
     * {@link dev.podcache.object.CacheState#FORBIDDEN}, and returned as stale while they are known.
     *
     * <p>Needs the verbs {@code list} and {@code watch} on the four kinds in all namespaces; what is refused is logged, and
     * tried again. Changes of other authorizers (webhooks, Node, ABAC), and of groups in an identity provider, are not seen:
     * for them reviews are as old as without this option. Default: off.
     */
    public PodcacheBuilder watchRbac() {
        this.watchesRbac = true;
        return this;
    }

    /**
     * Denies reads on behalf of a ServiceAccount that does not exist. RBAC goes by its name, so the API server allows what a
     * deleted ServiceAccount was allowed, until its bindings are deleted too. Each review that allows something is followed
     * by a get of the ServiceAccount: needs the verb {@code get} on {@code serviceaccounts}. Default: off.
     */
    public PodcacheBuilder serviceAccountsMustExist() {
        this.serviceAccountsMustExist = true;
        return this;
    }

    /**
     * Returns a new cache. It does not block; it starts the watches of {@link #watchRbac} and, where objects have a TTL, that
     * of the Node of {@link #node}. Without these it makes no request. If it throws, nothing that it has made remains.
     *
     * @throws IllegalArgumentException if a transform of Secrets or ConfigMaps is for another model class than theirs
     * @throws IllegalStateException if Netty is not on the class path; the message names the dependencies to add
     */
    public Podcache build() {
        // before anything is opened
        for (ObjectKind<?> ofPods : List.of(ObjectKind.SECRET, ObjectKind.CONFIG_MAP)) {
            Transform<?> transform = transforms.get(ofPods);
            if (transform != null) {
                Transform<?> unused = transform.forKind(ofPods);
            }
        }
        Closer parts = Closer.create();
        try {
            return open(parts);
        } catch (Throwable e) {
            try {
                parts.close();
            } catch (Throwable more) {
                e.addSuppressed(more);
            }
            throw e;
        }
    }

    /** Makes a cache, and registers what it opens for it with {@code parts}. */
    private Podcache open(Closer parts) {
        Fabric8ApiServer apiServer = server.get();
        if (ownsServer) {
            parts.register(apiServer::close);
        }
        Timekeeper timekeeper = apiServer.timekeeper();
        Recovery recovery = new Recovery(timekeeper);
        CountedEvents events = new CountedEvents(metrics);
        StoreOptions options = new StoreOptions(
                timekeeper,
                readTimeout,
                budget(apiServer),
                events,
                maxStaleness(),
                recovery,
                grantsFollow ? EarlyRefusals.ofGrants(watchTimes.firstSync()) : EarlyRefusals.NODE);
        CacheStores stores = new CacheStores(
                apiServer,
                options,
                ttlSource(apiServer, recovery, parts),
                watchTimes,
                Map.copyOf(strategies),
                strategy,
                Map.copyOf(transforms),
                namespaceScopes(),
                polled);
        parts.register(stores);
        CachedReviews reviews =
                new CachedReviews(apiServer.unlimitedReviews(REVIEW_TIMEOUT), serviceAccountsMustExist, timekeeper);
        parts.register(reviews::close);
        Managers managers = new Managers(stores, events, recordsStats, Set.copyOf(followed), reviews);
        if (watchesRbac) {
            RbacWatch rbac = new RbacWatch(
                    kind -> apiServer.listerWatcher(kind, "", ""), recovery, reviews, managers, timekeeper);
            parts.register(rbac::close);
            rbac.start();
        }
        return new Podcache(managers, timekeeper, parts);
    }

    private PayloadBudget budget(Fabric8ApiServer apiServer) {
        Timekeeper timekeeper = apiServer.timekeeper();
        if (payloadBudget == Long.MAX_VALUE) {
            return PayloadBudget.unlimited(timekeeper);
        }
        if (strategy == ChangeDetectionStrategy.GET
                && strategies.values().stream().allMatch(ChangeDetectionStrategy.GET::equals)) {
            log.info("payloadBudget has no effect under strategy GET, which holds no objects");
            return PayloadBudget.unlimited(timekeeper);
        }
        return PayloadBudget.ofBytes(payloadBudget, timekeeper);
    }

    private Set<ObjectKind<?>> namespaceScopes() {
        Set<ObjectKind<?>> watched = new HashSet<>();
        scopes.forEach((kind, scope) -> {
            ChangeDetectionStrategy chosen = strategies.getOrDefault(kind, strategy);
            if (scope == WatchScope.NAMESPACE && chosen == ChangeDetectionStrategy.WATCH) {
                watched.add(kind);
            } else if (scope == WatchScope.NAMESPACE) {
                log.info("scope NAMESPACE of {} has no effect under strategy {}: only WATCH watches", kind, chosen);
            }
        });
        return Set.copyOf(watched);
    }

    private boolean usesCache() {
        return polled != null
                || strategy == ChangeDetectionStrategy.CACHE
                || strategies.containsValue(ChangeDetectionStrategy.CACHE);
    }

    private Duration maxStaleness() {
        if (!usesCache() && !maxStaleness.isZero()) {
            log.info("backgroundRefresh has no effect under strategy {}: only CACHE has a TTL to exceed", strategy);
            return Duration.ZERO;
        }
        return maxStaleness;
    }

    /** Returns the TTL of the Node, which is watched under CACHE only: the other strategies have no TTL. */
    private ObjectTtlSource ttlSource(Fabric8ApiServer apiServer, Recovery recovery, Closer parts) {
        NodeLister lister = nodeLister;
        String own = node;
        if (lister == null || !usesCache()) {
            if (own == null || !usesCache()) {
                return new DefaultTtl(TimeUnit.NANOSECONDS.convert(defaultTtl), "default, no Node was configured");
            }
            lister = NodeLister.following(
                    own, apiServer.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + own), recovery);
            parts.register(lister::close);
        }
        NodeTtlSource source = NodeTtlSource.of(lister, defaultTtl);
        parts.register(source::close);
        return source;
    }
}
