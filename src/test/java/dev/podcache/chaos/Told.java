package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts what a cache tells of its requests, and knows which of them failed and since when watches stand. */
final class Told implements PodcacheMetrics {

    private final World world;
    private final ChangeDetectionStrategy strategy;
    private final Refreshes refreshes;
    private final Map<String, Long> watchedSince = new ConcurrentHashMap<>();

    /** By a cache of that strategy; {@code refreshes} hears of fetches that failed. */
    Told(World world, ChangeDetectionStrategy strategy, Refreshes refreshes) {
        this.world = world;
        this.strategy = strategy;
        this.refreshes = refreshes;
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        if (failure != null) {
            refreshes.failed(kind.path(key));
        }
        world.figures.count("request " + strategy + " fetch " + (failure == null ? "answered" : failure));
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        watchedSince.put(kind.path(key), Version.UNKNOWN);
        world.figures.count("request " + strategy + " watch " + failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        watchedSince.put(kind.path(key), world.time.now());
        world.figures.count("request " + strategy + " watch synced");
    }

    /** When the watch of the object was accepted: not yet if the cache is about to say it; 0 if it never was. */
    long watchedSince(Subject subject) {
        return Math.min(watchedSince.getOrDefault(world.path(subject), 0L), world.time.now());
    }
}
