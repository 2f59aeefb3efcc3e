package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/**
 * Strategy WATCH read by several threads at once: within an epoch, a get that begins after another one ended, on
 * whatever thread, never brings an older version (P2).
 */
@Slow
class WatchOrderProperties {

    private static final int READERS = 2;
    private static final int LEAST_READS = 10;

    /** What happens meanwhile. None of it begins an epoch. */
    enum OrderStep {
        WRITE,
        WRITE_TWICE,
        RESET,
        FAIL_WATCH,
        FORGET_HISTORY,
        PASS_TIME,
        JOIN,
        LEAVE
    }

    @Property
    void get_onAnyThread_neverBringsWhatIsOlderThanAGetBeforeIt(@ForAll @Size(max = 15) List<OrderStep> steps) {
        try (WatchFixture f = new WatchFixture()) {
            f.create(DB, "v0");
            f.store.addReference(DB, POD);
            f.get();
            AtomicBoolean over = new AtomicBoolean();
            AtomicLong newest = new AtomicLong();
            List<OrderReader> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                readers.add(new OrderReader(f, newest, over));
            }

            for (int i = 0; i < steps.size(); i++) {
                happen(f, steps.get(i), i);
            }
            over.set(true);
            readers.forEach(reader -> reader.ended.join());
            f.store.close();
        }
    }

    private static void happen(WatchFixture f, OrderStep step, int number) {
        switch (step) {
            case WRITE -> f.update(DB, "v" + number);
            case WRITE_TWICE -> {
                f.update(DB, "v" + number);
                f.update(DB, "w" + number);
            }
            case RESET -> f.server.resetWatches();
            case FAIL_WATCH -> f.fail(Verb.WATCH, 1, FailureReason.UNAVAILABLE, 503);
            case FORGET_HISTORY -> f.server.forgetHistory();
            case PASS_TIME -> f.timekeeper.advance(Duration.ofMillis(250));
            case JOIN -> {
                // to a broken watch, it would begin an epoch
                if (f.store.state(DB).cacheState() == CacheState.FRESH) {
                    f.store.addReference(DB, OTHER_POD);
                }
            }
            case LEAVE -> f.store.deleteReference(DB, OTHER_POD);
        }
    }

    /** Reads until it is over, at least a few times. */
    private static final class OrderReader {

        final CompletableFuture<Void> ended;

        OrderReader(WatchFixture f, AtomicLong newest, AtomicBoolean over) {
            this.ended = CompletableFuture.runAsync(
                    () -> {
                        for (int reads = 0; reads < LEAST_READS || !over.get(); reads++) {
                            long before = newest.get();
                            long version = Long.parseLong(f.store
                                    .get(DB.namespace(), DB.name())
                                    .getMetadata()
                                    .getResourceVersion());
                            newest.accumulateAndGet(version, Math::max);
                            assertThat(version)
                                    .as("a get after one that brought %s", before)
                                    .isGreaterThanOrEqualTo(before);
                        }
                    },
                    NewThread.EACH);
        }
    }
}
