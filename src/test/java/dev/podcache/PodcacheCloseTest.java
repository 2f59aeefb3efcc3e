package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.Closer;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import io.fabric8.kubernetes.api.model.HasMetadata;
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
            new Managers(new Managers.Stores() {
                @Override
                public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                    return new DirectObjectStore<>(kind, server.getter(kind), StoreOptions.defaults(timekeeper));
                }

                @Override
                public boolean countsReferences(ObjectKind<?> kind) {
                    return false;
                }
            }),
            timekeeper,
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
        CompletableFuture<Void> first = CompletableFuture.runAsync(cache::close, NewThread.EACH);
        closing.await();

        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(
                () -> {
                    cache.close();
                    return closed.get();
                },
                NewThread.EACH);

        Assertions.assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> second.get(100, TimeUnit.MILLISECONDS));
        mayClose.countDown();
        assertThat(second.get(60, TimeUnit.SECONDS)).isEqualTo(2);
        first.get(60, TimeUnit.SECONDS);
    }

    @Test
    void close_fromWithinAClose_doesNothingMore() throws Exception {
        AtomicInteger closed = new AtomicInteger();
        parts.register(() -> {
            closed.incrementAndGet();
            cache.close();
        });
        CompletableFuture.runAsync(cache::close, NewThread.EACH).get(60, TimeUnit.SECONDS);

        assertThat(closed).hasValue(1);
    }
}
