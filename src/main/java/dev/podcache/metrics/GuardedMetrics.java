package dev.podcache.metrics;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Phase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stands between Podcache and a user's listener. */
final class GuardedMetrics implements PodcacheMetrics {

    private static final Logger log = LoggerFactory.getLogger(PodcacheMetrics.class);

    private final PodcacheMetrics metrics;
    private final AtomicBoolean complained = new AtomicBoolean();

    GuardedMetrics(PodcacheMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        guard(() -> metrics.missed(kind, key, strategy));
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        guard(() -> metrics.staleServed(kind, key, strategy));
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        guard(() -> metrics.fetched(kind, key, why, failure, took));
    }

    @Override
    public void changed(ObjectKind<?> kind, ObjectKey key, Phase from, Phase to, String cause) {
        guard(() -> metrics.changed(kind, key, from, to, cause));
    }

    private void guard(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            // once: a listener that always throws would otherwise fill the log at the rate of the gets
            if (complained.compareAndSet(false, true)) {
                log.warn("a metrics listener throws; further exceptions of {} are ignored", metrics.getClass(), e);
            }
        }
    }
}
