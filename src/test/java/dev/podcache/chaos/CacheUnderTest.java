package dev.podcache.chaos;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.apiserver.fabric8.ServerOnTime;
import dev.podcache.chaos.Claims.Claim;
import dev.podcache.manager.Manager;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A cache of the run, by the public front door, with all that belongs to it. Thread-safe. */
final class CacheUnderTest implements AutoCloseable {

    /** A TTL of a second is more refreshes than a kubelet has. */
    private static final RequestLimit LIMIT = new RequestLimit(300, 300);

    private static final long RECENTLY = Duration.ofSeconds(3).toNanos();

    final Rules rules;
    final Claims claims = new Claims();
    private final World world;
    private final ChaosServer server;
    private final FetchRules fetches;
    private final Witness witness;
    private final Order order = new Order();
    private final Map<CachedObject, FreshSince> freshWhileLost = new ConcurrentHashMap<>();
    private volatile OpenCache opened;
    private final AtomicInteger replacements = new AtomicInteger();
    private volatile boolean replacing;
    private volatile Handed handed = new Handed();
    private volatile Handed handedBefore = new Handed();

    /** Since when a version has been called fresh. */
    private record FreshSince(String version, long time) {}

    /** What is closed together. */
    private record OpenCache(Podcache podcache, Fabric8ApiServer apiServer, KubernetesClient client) {
        void close() {
            podcache.close();
            apiServer.close();
            client.close();
        }
    }

    CacheUnderTest(World world, Rules rules, ChaosServer server) {
        this.world = world;
        this.rules = rules;
        this.server = server;
        fetches = new FetchRules(world, rules, claims);
        witness = new Witness(world, fetches);
        if (rules.isWatch()) {
            world.watches.of(claims);
        }
        opened = open();
    }

    private OpenCache open() {
        KubernetesClient client = server.client();
        Fabric8ApiServer apiServer = ServerOnTime.of(client, LIMIT, new SteppedClock(world.clock::get), witness);
        Podcache podcache = Podcache.builder(apiServer)
                .node(ChaosServer.NODE)
                .strategy(rules.strategy())
                .readTimeout(Rules.READ_TIMEOUT)
                .idleAfter(Duration.ofMinutes(1))
                .defaultTtl(Rules.TTL)
                .metrics(new MetricsReceiver(world, rules.strategy(), witness))
                .build();
        return new OpenCache(podcache, apiServer, client);
    }

    /** The cache that is open now. */
    Podcache podcache() {
        return opened.podcache();
    }

    /** Closes the cache, whoever reads from it, and opens another, to which nothing is registered. */
    void replace() {
        replacing = true;
        opened.close();
        handedBefore = handed;
        handed = new Handed();
        fetches.clear();
        opened = open();
        replacements.incrementAndGet();
        replacing = false;
    }

    /** The objects that it has handed out. */
    Handed handed() {
        return handed;
    }

    /** Those that the cache handed out that was open before. */
    Handed handedBefore() {
        return handedBefore;
    }

    /** One that judges what one thread reads. */
    Checker checker() {
        return new Checker(rules, world::history, world.calm, world.figures, order);
    }

    /** Reads the object, and looks at what is known before and after. */
    Read read(CachedObject subject) {
        int number = replacements.get();
        boolean replaced = replacing;
        OpenCache used = opened;
        Claim claim = claims.of(subject);
        boolean seen = claim.epoch().isSeen();
        ObjectState state = state(used, subject);
        Contact contact = contact(subject, state);
        Read.Moment before = new Read.Moment(world.time.now(), claim, seen, state);
        fetches.got(subject, before.time());
        ReadOutcome outcome = outcome(used, subject);
        long ended = world.time.now();
        replaced |= replacing || number != replacements.get();
        if (claim.isHeld() && isAnswer(outcome) && !replaced) {
            claim.epoch().see();
        }
        Read.Moment after = new Read.Moment(ended, claims.of(subject), true, state(used, subject));
        long stalled = world.stalls.between(before.time(), ended);
        long stalledBefore = world.stalls.between(before.time() - RECENTLY, before.time());
        return new Read(subject, before, outcome, after, stalled, stalledBefore, contact, replaced);
    }

    private Contact contact(CachedObject subject, ObjectState state) {
        long now = world.time.now();
        long stalled = world.stalls.between(now - RECENTLY, now);
        long lostFor = state.cacheState() == CacheState.FRESH
                ? Math.min(lostFor(subject, now), freshFor(subject, state.resourceVersion(), now))
                : 0;
        if (lostFor <= 0) {
            freshWhileLost.remove(subject);
        }
        return new Contact(lostFor - stalled, fetches.failedFor(subject, now) - stalled);
    }

    /** For how long the cache could know that it has no watch of the object; at most 0 if it has. */
    private long lostFor(CachedObject subject, long now) {
        long heardOf = Math.max(world.watches.lostAt(subject), world.calm.networkSince());
        long ended = heardOf == Version.UNKNOWN ? 0 : now - heardOf;
        return Math.max(ended, server.disconnectedFor().toNanos());
    }

    /**
     * For how long that version has been called fresh in that state: what the server says of watches comes a moment later. An
     * immutable one was fresh without a watch before.
     */
    private long freshFor(CachedObject subject, String version, long now) {
        FreshSince since = freshWhileLost.merge(
                subject,
                new FreshSince(version, now),
                (before, present) -> before.version.equals(version) ? before : present);
        return since.time == now ? 1 : now - since.time;
    }

    private ReadOutcome outcome(OpenCache used, CachedObject subject) {
        try {
            HasMetadata object = manager(used, subject).getObject(world.namespace, subject.name());
            handed.add(object);
            return new ReadOutcome.FoundObject(
                    Payloads.marker(object),
                    object.getMetadata().getUid(),
                    object.getMetadata().getResourceVersion());
        } catch (RuntimeException e) {
            return new ReadOutcome.FailedRead(e);
        }
    }

    /** Whether the server has spoken: with an object, or that there is none. */
    static boolean isAnswer(ReadOutcome outcome) {
        return outcome instanceof ReadOutcome.FoundObject
                || (outcome instanceof ReadOutcome.FailedRead failed && failed.thrown() instanceof NotFound);
    }

    ObjectState state(CachedObject subject) {
        return state(opened, subject);
    }

    private ObjectState state(OpenCache used, CachedObject subject) {
        return manager(used, subject).state(world.namespace, subject.name());
    }

    private static Manager<? extends HasMetadata> manager(OpenCache used, CachedObject subject) {
        return subject.kind() == CachedObject.CachedKind.SECRET
                ? used.podcache().secrets()
                : used.podcache().configMaps();
    }

    @Override
    public void close() {
        opened.close();
    }

    @Override
    public String toString() {
        return rules.strategy().toString();
    }
}
