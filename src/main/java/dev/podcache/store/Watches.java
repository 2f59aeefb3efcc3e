package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all entries of a watch store share. */
final class Watches<T extends HasMetadata> {

    private static final Logger log = LoggerFactory.getLogger(WatchObjectStore.class);
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final ObjectKind<T> kind;
    private final Function<ObjectKey, ListerWatcher<T>> listerWatchers;
    private final StoreOptions options;
    private final AtomicLong nextWarning;
    private final AtomicInteger unsaid = new AtomicInteger();

    Watches(ObjectKind<T> kind, Function<ObjectKey, ListerWatcher<T>> listerWatchers, StoreOptions options) {
        this.kind = kind;
        this.listerWatchers = listerWatchers;
        this.options = options;
        this.nextWarning = new AtomicLong(options.timekeeper().nanoTime());
    }

    long now() {
        return options.timekeeper().nanoTime();
    }

    /** List and watch have succeeded, {@code took} after they were begun or lost. */
    void synced(ObjectKey key, Duration took) {
        options.metrics().watchSynced(kind, key, took);
    }

    boolean isLegal(ObjectKey key) {
        return kind.isLegal(key);
    }

    /** An attempt failed; {@code first} if the one before it had not. */
    void failed(ObjectKey key, ApiServerException cause, boolean first) {
        options.metrics().watchFailed(kind, key, cause.reason());
        // a forgotten version is no trouble: a list follows at once
        if (!first || cause.reason() == FailureReason.EXPIRED) {
            return;
        }
        // one lost connection is hundreds of lost watches: one line says it
        long now = now();
        long due = nextWarning.get();
        if (now - due >= 0 && nextWarning.compareAndSet(due, now + QUIET.toNanos())) {
            int others = unsaid.getAndSet(0);
            log.warn(
                    "watch of {} {} failed; retrying: {}{}",
                    kind,
                    key,
                    cause.getMessage(),
                    others == 0 ? "" : "; " + others + " more have failed since the last warning");
        } else {
            unsaid.incrementAndGet();
        }
    }

    Reflector<T> reflector(ObjectKey key, ReflectorSink<T> sink) {
        return Reflector.ofOneObject(listerWatchers.apply(key), sink, options.recovery());
    }

    /** Begins to list and watch, on a worker: whoever adds a reference does not go to the network for it. */
    void open(Reflector<T> reflector) {
        options.timekeeper().workers().execute(reflector::start);
    }

    Answer<T> present(Fetched<T> fetched) {
        T object = fetched.object();
        // never asked for its age: it is up to date as long as it is watched
        return new Answer.Present<>(
                0, object, fetched.resourceVersion(), fetched.encodedBytes(), kind.isImmutable(object));
    }
}
