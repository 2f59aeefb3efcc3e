package dev.podcache.store;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** What all entries of a watch store share. */
final class Watches<T extends HasMetadata> {

    private final ObjectKind<T> kind;
    private final Function<ObjectKey, ListerWatcher<T>> listerWatchers;
    private final StoreOptions options;

    Watches(ObjectKind<T> kind, Function<ObjectKey, ListerWatcher<T>> listerWatchers, StoreOptions options) {
        this.kind = kind;
        this.listerWatchers = listerWatchers;
        this.options = options;
    }

    ObjectKind<T> kind() {
        return kind;
    }

    PodcacheMetrics metrics() {
        return options.metrics();
    }

    long now() {
        return options.timekeeper().nanoTime();
    }

    Reflector<T> reflector(ObjectKey key, ReflectorSink<T> sink) {
        return new Reflector<>(
                listerWatchers.apply(key),
                sink,
                options.timekeeper(),
                () -> ThreadLocalRandom.current().nextDouble());
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
