package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Counts what a cache tells of its requests, and lets its {@link Refreshes} know of those that failed. */
final class ToldFailures implements PodcacheMetrics {

    private final ChangeDetectionStrategy strategy;
    private final Figures figures;
    private final Refreshes refreshes;

    ToldFailures(ChangeDetectionStrategy strategy, Figures figures, Refreshes refreshes) {
        this.strategy = strategy;
        this.figures = figures;
        this.refreshes = refreshes;
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        if (failure != null) {
            refreshes.failed(kind.path(key));
        }
        figures.count("request " + strategy + " fetch " + (failure == null ? "answered" : failure));
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        figures.count("request " + strategy + " watch " + failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        figures.count("request " + strategy + " watch synced");
    }
}
