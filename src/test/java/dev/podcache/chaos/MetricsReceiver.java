package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Counts what a cache tells of its requests. */
final class MetricsReceiver implements PodcacheMetrics {

    private final World world;
    private final ChangeDetectionStrategy strategy;
    private final Witness witness;

    /** By a cache of that strategy; {@code witness} hears of fetches that failed. */
    MetricsReceiver(World world, ChangeDetectionStrategy strategy, Witness witness) {
        this.world = world;
        this.strategy = strategy;
        this.witness = witness;
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String told) {
        world.figures.count("miss " + strategy);
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        if (failure != null) {
            witness.failed(kind.path(key));
        }
        world.figures.count("request " + strategy + " fetch " + (failure == null ? "answered" : failure));
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        world.figures.count("request " + strategy + " watch " + failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        world.figures.count("request " + strategy + " watch synced");
    }
}
