package dev.podcache.micrometer;

import dev.podcache.Podcache;
import dev.podcache.manager.CacheStats;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The meters {@code podcache.*} of one cache in one registry. Thread-safe. Has no strong reference to the cache,
 * because a registry must not keep the cache alive.
 */
final class BoundStats {

    /*
     * All meters that are read within a second share one snapshot of the counts, because taking it visits every object.
     * Meters of new kinds are added under no lock, because a registry has locks of its own.
     */

    private static final long MAX_AGE = Duration.ofSeconds(1).toNanos();

    private final MeterRegistry registry;
    private final Iterable<Tag> tags;
    private final Set<String> boundKinds = ConcurrentHashMap.newKeySet();
    private @Nullable CacheStats latest; // guarded by this, like the next
    private long takenAt;

    BoundStats(MeterRegistry registry, Iterable<Tag> tags) {
        this.registry = registry;
        this.tags = tags;
    }

    void bindTo(Podcache cache) {
        SourceMeters<Podcache> meters = meters(cache);
        meters.gauge(
                "podcache.references",
                "references",
                "Pairs of an owner and an object",
                each -> recent(each).references());
        meters.gauge(
                "podcache.bytes",
                BaseUnits.BYTES,
                "Objects in memory, as received",
                each -> recent(each).bytes());
        meters.gauge(
                "podcache.watches",
                "watches",
                "Objects whose watch is open",
                each -> recent(each).watches());
        meters.gauge(
                "podcache.connections",
                BaseUnits.CONNECTIONS,
                "Connections to the API server, open or being opened",
                each -> recent(each).connections());
        meters.counter(
                "podcache.stale",
                "Gets that were answered with a stale object",
                each -> recent(each).stale());
        meters.counters(
                "podcache.fetches",
                "outcome",
                "Requests that gets waited for, with their retries",
                each -> fetches(recent(each)));
        meters.counters(
                "podcache.watch.failures",
                "outcome",
                "Lists and watches that failed",
                each -> byReason(recent(each).watchFailures()));
        // for the kinds that the cache has already
        recent(cache);
    }

    private SourceMeters<Podcache> meters(Podcache cache) {
        return new SourceMeters<>(cache, tags, registry);
    }

    private static Map<String, Long> fetches(CacheStats stats) {
        Map<String, Long> counts = byReason(stats.fetchesFailed());
        counts.put("not_found", stats.fetchesNotFound());
        counts.put("answered", stats.fetchesAnswered());
        return counts;
    }

    private static Map<String, Long> byReason(Map<FailureReason, Long> counts) {
        Map<String, Long> all = new HashMap<>();
        for (FailureReason reason : FailureReason.values()) {
            all.put(lower(reason), counts.getOrDefault(reason, 0L));
        }
        return all;
    }

    private CacheStats recent(Podcache cache) {
        CacheStats stats;
        synchronized (this) {
            long now = registry.config().clock().monotonicTime();
            if (latest == null || now - takenAt >= MAX_AGE) {
                latest = cache.stats();
                takenAt = now;
            }
            stats = latest;
        }
        for (ObjectKind<?> kind : stats.objects().keySet()) {
            if (boundKinds.add(nameOf(kind))) {
                bindObjects(cache, nameOf(kind));
            }
        }
        return stats;
    }

    private void bindObjects(Podcache cache, String kind) {
        for (CacheState state : CacheState.values()) {
            meters(cache)
                    .with("kind", kind, "state", lower(state))
                    .gauge(
                            "podcache.objects",
                            BaseUnits.OBJECTS,
                            "Referenced objects",
                            each -> objects(recent(each), kind, state));
        }
    }

    /** Two versions of one kind are one kind here. */
    private static int objects(CacheStats stats, String name, CacheState state) {
        return stats.objects().keySet().stream()
                .filter(kind -> nameOf(kind).equals(name))
                .mapToInt(kind -> stats.objects(kind, state))
                .sum();
    }

    private static String nameOf(ObjectKind<?> kind) {
        int slash = kind.apiVersion().indexOf('/');
        return slash < 0 ? kind.name() : kind.name() + "." + kind.apiVersion().substring(0, slash);
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
