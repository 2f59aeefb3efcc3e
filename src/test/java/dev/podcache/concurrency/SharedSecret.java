package dev.podcache.concurrency;

import dev.podcache.apiserver.Fetched;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;

/** The one object that the checkers' threads contend for. */
final class SharedSecret {

    static final ObjectKey KEY = ObjectKey.of("default", "a");

    private SharedSecret() {}

    private record Constant(long ttlNanos, String origin) implements ObjectTtlSource {}

    /** A store whose server has version {@code version} of the object, and answers on the thread that asks. */
    static TtlObjectStore<Secret> store(long ttlNanos, IntSupplier version) {
        return new TtlObjectStore<>(
                ObjectKind.SECRET,
                (key, freshness, timeout) -> {
                    String now = Integer.toString(version.getAsInt());
                    return CompletableFuture.completedFuture(new Fetched<>(Secrets.of(KEY, now), now, 10));
                },
                new Constant(ttlNanos, "set by the test"),
                StoreOptions.defaults(new ManualTimekeeper()));
    }
}
