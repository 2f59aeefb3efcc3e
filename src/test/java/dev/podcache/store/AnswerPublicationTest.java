package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A hit of strategy CACHE depends on the object and on when it was received, which no reader can see change at once. So
 * one thread fetches as fast as it can, object number n at time n, and another one reads all the while.
 */
class AnswerPublicationTest {

    private static final int FETCHES = 50_000;

    /** At least so often the reader has a hit, however seldom it gets to run. */
    private static final int HITS = 5_000;

    private volatile long now; // by the fetching thread
    private volatile long answered; // the number of the latest answer, before it is kept
    private volatile boolean over;
    private volatile long hits; // by the reader

    private final ForwardingTimekeeper time = new ForwardingTimekeeper(new ManualTimekeeper()) {
        @Override
        public long nanoTime() {
            return now;
        }
    };
    private final ObjectGetter<Secret> server = (key, source, timeout) -> {
        Secret secret = new SecretBuilder()
                .withNewMetadata()
                .withName(Long.toString(now))
                .endMetadata()
                .build();
        return CompletableFuture.completedFuture(new Fetched<>(secret, Long.toString(now), 8));
    };
    private final PodcacheMetrics listener = new PodcacheMetrics() {
        @Override
        public void fetched(
                ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
            answered = now;
        }
    };

    private record OneNanosecond(long ttlNanos, String origin) implements ObjectTtlSource {}

    /** The clock of the store shows at least the time of the latest answer. */
    @Test
    void ifHit_whileAnswersCome_isYoungerThanTheTtl() throws Exception {
        assertThat(offence(options(), last -> answered)).isNull();
    }

    @Test
    void ifHit_whileAnswersComeAndMayBeStale_neverGoesBack() throws Exception {
        assertThat(offence(options().backgroundRefresh(Duration.ofDays(36_500)), last -> last))
                .isNull();
    }

    private StoreOptions options() {
        return new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.unlimited(time), listener);
    }

    /** Returns the number of a hit that is lower than {@code least}, asked with the number of the hit before, allows. */
    private @Nullable Long offence(StoreOptions options, LongUnaryOperator least) throws Exception {
        try (TtlObjectStore<Secret> store =
                new TtlObjectStore<>(ObjectKind.SECRET, server, new OneNanosecond(1, "set by the test"), options)) {
            store.addReference(DB, POD);
            CompletableFuture<@Nullable Long> offence = CompletableFuture.supplyAsync(
                    () -> {
                        long last = 0;
                        long found = 0;
                        while (!over) {
                            long allowed = least.applyAsLong(last);
                            Secret hit = store.ifHit(DB.namespace(), DB.name());
                            if (hit != null) {
                                last = Long.parseLong(hit.getMetadata().getName());
                                found++;
                                hits = found;
                                if (last < allowed) {
                                    return last;
                                }
                            }
                        }
                        return null;
                    },
                    NewThread.EACH);
            for (long n = 1; (n <= FETCHES || hits < HITS) && !offence.isDone(); n++) {
                now = n;
                Secret unused = store.get(DB.namespace(), DB.name(), ReadConsistency.latest());
            }
            over = true;
            return offence.get();
        }
    }
}
