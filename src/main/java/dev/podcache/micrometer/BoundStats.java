package dev.podcache.micrometer;

import dev.podcache.Podcache;
import dev.podcache.manager.CacheStats;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
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
        gauge(cache, "podcache.references", "references", "Pairs of an owner and an object", CacheStats::references);
        gauge(cache, "podcache.bytes", BaseUnits.BYTES, "Objects in memory, as received", CacheStats::bytes);
        gauge(cache, "podcache.watches", "watches", "Objects whose watch is open", CacheStats::watches);
        gauge(
                cache,
                "podcache.connections",
                BaseUnits.CONNECTIONS,
                "Connections to the API server, open or being opened",
                CacheStats::connections);
        counter(cache, "podcache.stale", "Gets that were answered with a stale object", null, CacheStats::stale);
        String fetches = "Requests that gets waited for, with their retries";
        counter(cache, "podcache.fetches", fetches, "answered", CacheStats::fetchesAnswered);
        counter(cache, "podcache.fetches", fetches, "not_found", CacheStats::fetchesNotFound);
        for (FailureReason reason : FailureReason.values()) {
            if (reason != FailureReason.NOT_FOUND) {
                counter(
                        cache,
                        "podcache.fetches",
                        fetches,
                        lower(reason),
                        stats -> stats.fetchesFailed().getOrDefault(reason, 0L));
            }
            counter(
                    cache,
                    "podcache.watch.failures",
                    "Lists and watches that failed",
                    lower(reason),
                    stats -> stats.watchFailures().getOrDefault(reason, 0L));
        }
        // for the kinds that the cache has already
        recent(cache);
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
            Gauge.builder("podcache.objects", cache, any -> objects(recent(any), kind, state))
                    .tags(tags)
                    .tag("kind", kind)
                    .tag("state", lower(state))
                    .description("Referenced objects")
                    .baseUnit(BaseUnits.OBJECTS)
                    .register(registry);
        }
    }

    /** Two versions of one kind are one kind here. */
    private static int objects(CacheStats stats, String name, CacheState state) {
        return stats.objects().keySet().stream()
                .filter(kind -> nameOf(kind).equals(name))
                .mapToInt(kind -> stats.objects(kind, state))
                .sum();
    }

    private void gauge(
            Podcache cache, String name, String unit, String description, ToDoubleFunction<CacheStats> value) {
        Gauge.builder(name, cache, any -> value.applyAsDouble(recent(any)))
                .tags(tags)
                .description(description)
                .baseUnit(unit)
                .register(registry);
    }

    private void counter(
            Podcache cache,
            String name,
            String description,
            @Nullable String outcome,
            ToDoubleFunction<CacheStats> value) {
        FunctionCounter.Builder<Podcache> counter = FunctionCounter.builder(
                        name, cache, any -> value.applyAsDouble(recent(any)))
                .tags(tags)
                .description(description);
        (outcome == null ? counter : counter.tag("outcome", outcome)).register(registry);
    }

    private static String nameOf(ObjectKind<?> kind) {
        int slash = kind.apiVersion().indexOf('/');
        return slash < 0 ? kind.name() : kind.name() + "." + kind.apiVersion().substring(0, slash);
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
