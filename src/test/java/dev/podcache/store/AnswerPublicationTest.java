package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What hits look at is in two fields, the object and when it was received, which no reader can see change at once. So
 * one thread ends an answer after the other as fast as it can, number n at time n, and another reads all the while.
 */
class AnswerPublicationTest {

    private static final int LANDINGS = 500_000;

    /** At least so often the reader finds something, however seldom it gets to run. */
    private static final int FINDS = 10_000;

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final TtlEntry<Long> entry =
            new TtlEntry<>(TtlFixture.DB, new Transitions<>(StoreOptions.defaults(timekeeper)), Long.MAX_VALUE);
    private volatile boolean ended = true;
    private volatile long finds; // by the reader

    AnswerPublicationTest() {
        entry.addReference(TtlFixture.POD);
    }

    @Test
    void ifFresh_whileAnswersLand_isNewerThanAskedFor() throws Exception {
        assertThat(offence(entry::ifFresh, 1)).isNull();
    }

    @Test
    void ifInLeeway_whileAnswersLand_neverGoesBack() throws Exception {
        assertThat(offence(entry::ifInLeeway, 0)).isNull();
    }

    /** What {@code read}, given the number it found last, found that is not newer than that by {@code least}. */
    private @Nullable Long offence(LongFunction<@Nullable Long> read, long least) throws Exception {
        CompletableFuture<@Nullable Long> offence = CompletableFuture.supplyAsync(
                () -> {
                    long last = 0;
                    long found = 0;
                    while (ended) {
                        Long number = read.apply(last);
                        if (number != null && number < last + least) {
                            return number;
                        }
                        if (number != null) {
                            last = number;
                            found++;
                            finds = found;
                        }
                    }
                    return null;
                },
                NewThread.EACH);
        for (long n = 1; (n <= LANDINGS || finds < FINDS) && !offence.isDone(); n++) {
            Fetch<Long> fetch =
                    Objects.requireNonNull(entry.lookup(n, 0, Long.MAX_VALUE).started());
            entry.end(fetch, Fetch.FetchOutcome.answered(new Answer.Present<>(n, n, "" + n, 8, false)), n);
        }
        ended = false;
        return offence.get();
    }
}
