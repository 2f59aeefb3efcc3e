package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.Closer;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Registrations;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.StoreOptions;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

class PodcacheCloseTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Closer parts = Closer.create();
    private final Podcache cache = new Podcache(
            Manager.simple(new DirectObjectStore<Secret>(
                    ObjectKind.SECRET, server.getter(ObjectKind.SECRET), StoreOptions.defaults(timekeeper))),
            Manager.simple(new DirectObjectStore<ConfigMap>(
                    ObjectKind.CONFIG_MAP, server.getter(ObjectKind.CONFIG_MAP), StoreOptions.defaults(timekeeper))),
            new Registrations(),
            parts);

    @Test
    void close_whileAnotherThreadCloses_returnsWhenEverythingIsClosed() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch mayClose = new CountDownLatch(1);
        AtomicInteger closed = new AtomicInteger();
        parts.register(closed::incrementAndGet);
        parts.register(() -> {
            closing.countDown();
            Assertions.assertThatNoException().isThrownBy(mayClose::await);
            closed.incrementAndGet();
        });
        CompletableFuture<Void> first = CompletableFuture.runAsync(cache::close);
        closing.await();

        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> {
            cache.close();
            return closed.get();
        });

        Assertions.assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> second.get(100, TimeUnit.MILLISECONDS));
        mayClose.countDown();
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(2);
        first.get(10, TimeUnit.SECONDS);
    }

    @Test
    void close_fromWithinAClose_doesNothingMore() throws Exception {
        AtomicInteger closed = new AtomicInteger();
        parts.register(() -> {
            closed.incrementAndGet();
            cache.close();
        });
        CompletableFuture.runAsync(cache::close).get(10, TimeUnit.SECONDS);

        assertThat(closed).hasValue(1);
    }
}
