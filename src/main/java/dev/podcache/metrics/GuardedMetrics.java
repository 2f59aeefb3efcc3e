package dev.podcache.metrics;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Shields Podcache from the exceptions of a user's listener. */
final class GuardedMetrics implements PodcacheMetrics {

    private static final Logger log = LoggerFactory.getLogger(PodcacheMetrics.class);

    private final PodcacheMetrics metrics;
    private final AtomicBoolean warned = new AtomicBoolean();

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
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        guard(() -> metrics.watchFailed(kind, key, failure));
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        guard(() -> metrics.watchSynced(kind, key, took));
    }

    private void guard(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            // An Error too, such as a NoClassDefFoundError in a listener: it must not end a watch. One warning, because
            // a listener that always throws would fill the log at the rate of the gets.
            log.atLevel(warned.compareAndSet(false, true) ? Level.WARN : Level.DEBUG)
                    .setCause(e)
                    .log("metrics listener {} threw; its further exceptions are logged at DEBUG", metrics.getClass());
        }
    }
}
