package dev.podcache.micrometer;

import dev.podcache.Podcache;
import dev.podcache.manager.CacheStats;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.cache.CacheMeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Shows the counts of a {@link Podcache} as Micrometer meters: Micrometer's meters for any cache, so that existing
 * dashboards work, and meters of Podcache. Needs {@code io.micrometer:micrometer-core}, which Podcache does not bring.
 * Thread-safe.
 *
 * <pre>
 * new PodcacheMeterBinder(cache, "podcache", Tags.empty()).bindTo(registry);
 * </pre>
 *
 * <table>
 * <caption>Meters, each with the tag {@code cache} and the given tags</caption>
 * <tr><th>meter</th><th>tags</th><th>what it is</th></tr>
 * <tr><td>{@code cache.size}</td><td></td><td>{@link CacheStats#size}</td></tr>
 * <tr><td>{@code cache.gets}</td><td>{@code result}: {@code hit}, {@code miss}</td><td>{@link CacheStats#hits}, {@link
 * CacheStats#misses}</td></tr>
 * <tr><td>{@code cache.puts}</td><td></td><td>{@link CacheStats#updates}</td></tr>
 * <tr><td>{@code cache.evictions}</td><td></td><td>{@link CacheStats#evictions}</td></tr>
 * <tr><td>{@code podcache.objects}</td><td>{@code kind}, {@code state}</td><td>{@link CacheStats#objects()}</td></tr>
 * <tr><td>{@code podcache.references}</td><td></td><td>{@link CacheStats#references}</td></tr>
 * <tr><td>{@code podcache.bytes}</td><td></td><td>{@link CacheStats#bytes}</td></tr>
 * <tr><td>{@code podcache.watches}</td><td></td><td>{@link CacheStats#watches}</td></tr>
 * <tr><td>{@code podcache.connections}</td><td></td><td>{@link CacheStats#connections}</td></tr>
 * <tr><td>{@code podcache.stale}</td><td></td><td>{@link CacheStats#stale}</td></tr>
 * <tr><td>{@code podcache.fetches}</td><td>{@code outcome}</td><td>{@link CacheStats#fetchesAnswered}, {@link
 * CacheStats#fetchesNotFound}, {@link CacheStats#fetchesFailed}</td></tr>
 * <tr><td>{@code podcache.watch.failures}</td><td>{@code outcome}</td><td>{@link CacheStats#watchFailures}</td></tr>
 * </table>
 *
 * <p>A kind outside the core group is named with its group, such as {@code Database.example.dev}. A kind that is first
 * used after the binding gets its meters when a meter {@code podcache.*} is read next. No tag has a namespace or a
 * name: the number of time series grows with kinds and outcomes, not with objects.
 *
 * <p><b>Hits.</b> A cache that was not built with {@code PodcacheBuilder.recordStats} does not count hits. Then the
 * meter {@code cache.gets} with {@code result=hit} does not exist, because it would always show 0.
 *
 * <p>The meters {@code podcache.*} of one registry share one {@link CacheStats}, which is up to a second old; each
 * meter {@code cache.*} takes its own. The meters refer to the cache weakly, so they do not keep it from being
 * collected as garbage: keep a reference to it until you close it.
 */
public final class PodcacheMeterBinder extends CacheMeterBinder<Podcache> {

    /**
     * Makes a binder; {@link #bindTo} adds the meters to a registry.
     *
     * @param cacheName the value of the tag {@code cache}, which tells the caches of a process apart
     * @param tags further tags for all meters
     */
    public PodcacheMeterBinder(Podcache cache, String cacheName, Iterable<Tag> tags) {
        super(cache, cacheName, tags);
    }

    /** Returns the number of referenced objects; null if the cache was collected as garbage. */
    @Override
    protected @Nullable Long size() {
        CacheStats stats = stats();
        return stats == null ? null : Long.valueOf(stats.size());
    }

    /** Returns the number of hits; 0 if they are not counted, and then no meter shows it. */
    @Override
    protected long hitCount() {
        CacheStats stats = stats();
        return stats == null ? 0 : stats.hits().orElse(0);
    }

    /** Returns the number of misses; null if the cache was collected as garbage. */
    @Override
    protected @Nullable Long missCount() {
        CacheStats stats = stats();
        return stats == null ? null : Long.valueOf(stats.misses());
    }

    /** Returns the number of objects that the payload budget evicted; null if the cache was collected as garbage. */
    @Override
    protected @Nullable Long evictionCount() {
        CacheStats stats = stats();
        return stats == null ? null : Long.valueOf(stats.evictions());
    }

    /** Returns how often an object was taken into memory, or replaced there by another version. */
    @Override
    protected long putCount() {
        CacheStats stats = stats();
        return stats == null ? 0 : stats.updates();
    }

    @Override
    protected void bindImplementationSpecificMetrics(MeterRegistry registry) {
        Podcache cache = getCache();
        if (cache == null) {
            return;
        }
        if (cache.stats().hits().isEmpty()) {
            // the superclass always adds this meter
            registry.find("cache.gets")
                    .tags(getTagsWithCacheName())
                    .tag("result", "hit")
                    .meters()
                    .forEach(registry::remove);
        }
        new BoundStats(registry, getTagsWithCacheName()).bindTo(cache);
    }

    private @Nullable CacheStats stats() {
        Podcache cache = getCache();
        return cache == null ? null : cache.stats();
    }
}
