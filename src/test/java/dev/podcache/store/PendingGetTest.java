package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A get that waits, on a thread and without one. */
class PendingGetTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final ManualTimekeeper frozen = new ManualTimekeeper();
    private final CompletableFuture<String> completion = new CompletableFuture<>();

    /** Waits twice for one completion; the second wait shows that it goes on. */
    private final class Waiting extends PendingGet<String> {

        private final List<Boolean> proceeded = new ArrayList<>();

        Waiting(ManualTimekeeper time) {
            super(ObjectKind.SECRET, DB, StoreOptions.defaults(time));
        }

        @Override
        @Nullable
        String proceed(boolean inTime) {
            proceeded.add(inTime);
            if (proceeded.size() == 1) {
                return waitFor(completion, now() + PATIENCE.toNanos());
            }
            if (!inTime) {
                throw new NotFound(ObjectKind.SECRET, DB, null);
            }
            return completion.join();
        }
    }

    @Test
    void join_endedAlready_doesNotWait() {
        completion.complete("v1");
        Thread.currentThread().interrupt();

        assertThat(new Waiting(timekeeper).join()).isEqualTo("v1");
        assertThat(Thread.interrupted()).as("not even asked").isTrue();
    }

    @Test
    void join_endsMeanwhile_waitsNoLonger() {
        timekeeper.schedule(PATIENCE.dividedBy(2), () -> completion.complete("v1"));

        assertThat(new Waiting(timekeeper).join()).isEqualTo("v1");
        assertThat(timekeeper.nanoTime()).isEqualTo(PATIENCE.dividedBy(2).toNanos());
    }

    @Test
    void join_late_goesOnAtTheDeadline() {
        assertThatThrownBy(() -> new Waiting(timekeeper).join()).isInstanceOf(NotFound.class);
        assertThat(timekeeper.nanoTime()).isEqualTo(PATIENCE.toNanos());
    }

    @Test
    void join_interrupted_failsWithTheStatusSet() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> new Waiting(timekeeper).join())
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.INTERRUPTED))
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void async_completesWithoutAThreadThatWaits() {
        CompletableFuture<String> result = new Waiting(frozen).async();
        assertThat(result).isNotDone();
        completion.complete("v1");

        assertThat(result).isCompletedWithValue("v1");
        assertThat(frozen.scheduledTasks()).as("timers").isZero();
    }

    @Test
    void async_late_goesOnAtTheDeadline_once() {
        Waiting get = new Waiting(frozen);
        CompletableFuture<String> result = get.async();
        frozen.advance(PATIENCE);
        completion.complete("too late");

        assertThatThrownBy(result::join).isInstanceOf(CompletionException.class).hasCauseInstanceOf(NotFound.class);
        assertThat(get.proceeded).containsExactly(true, false);
    }

    @Test
    void async_cancelled_harmsNobodyElse() {
        CompletableFuture<String> cancelled = new Waiting(frozen).async();
        CompletableFuture<String> other = new Waiting(frozen).async();
        cancelled.cancel(true);
        completion.complete("v1");

        assertThat(other).isCompletedWithValue("v1");
        assertThat(cancelled).isCancelled();
    }
}
