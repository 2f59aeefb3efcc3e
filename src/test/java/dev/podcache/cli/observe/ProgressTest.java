package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ProgressTest {

    private final WatchNews news = new WatchNews(event -> {});
    private final ReadCounter counter = new ReadCounter(new Watched(news));
    private final AtomicLong requests = new AtomicLong(7);

    @AfterEach
    void close() {
        news.close();
    }

    @Test
    void tell_readsSinceTheLastTime_areOneLine() {
        RecordedAccount recorded = RecordedAccount.ofText();
        try (Progress progress = new Progress(recorded.account(), counter, requests::get)) {
            read(3);
            miss();
            requests.addAndGet(5);
            recorded.advance(2);
            progress.tell();
            read(2);
            recorded.advance(2);
            progress.tell();
        }

        assertThat(recorded.lines())
                .containsExactly(
                        "   2.0s  reads        4     hits 3     stale 1     waited 0     requests/s 2.5    1 fetch: first"
                                + " read 1",
                        "   4.0s  reads        2     hits 2     stale 0     waited 0     requests/s 0.0");
    }

    @Test
    void tell_serverThatDoesNotCount_isNotMentioned() {
        RecordedAccount recorded = RecordedAccount.ofJson();
        try (Progress progress = new Progress(recorded.account(), counter, Progress.UNKNOWN)) {
            read(2);
            recorded.advance(2);
            progress.tell();
        }

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"reads\",\"seconds\":2.000,\"reads\":2,\"hits\":2,\"staleServed\":0,"
                        + "\"waited\":0,\"failed\":0,\"fetches\":{}}");
    }

    @Test
    void start_requestsBeforeIt_belongToNoPeriod() {
        RecordedAccount recorded = RecordedAccount.ofText();
        try (Progress progress = new Progress(recorded.account(), counter, requests::get)) {
            requests.addAndGet(1000);
            recorded.advance(1);
            progress.start(Duration.ofHours(1), Duration.ofHours(1));
            read(1);
            requests.addAndGet(4);
            recorded.advance(2);
            progress.tell();
        }

        assertThat(recorded.lines()).singleElement().asString().contains("requests/s 2.0");
    }

    @Test
    void start_serverThatThrowsOnce_isAskedAgainInTheNextPeriod(NoLeaks leaks) throws InterruptedException {
        leaks.allowWarnings("could not be told");
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch again = new CountDownLatch(1);
        LongSupplier failingOnce = () -> {
            int times = asked.incrementAndGet();
            if (times == 3) {
                throw new IllegalStateException("the first time on the timer");
            }
            if (times > 3) {
                again.countDown();
            }
            return 0;
        };
        try (Progress progress = new Progress(Account.silent(() -> 0), counter, failingOnce)) {
            progress.start(Duration.ofMillis(1), Duration.ofMillis(1));

            assertThat(again.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void close_readsThatWereNotTold_areToldOnce() {
        RecordedAccount recorded = RecordedAccount.ofText();
        Progress progress = new Progress(recorded.account(), counter, requests::get);
        read(2);

        progress.close();
        read(2);
        progress.close();

        assertThat(recorded.lines()).singleElement().asString().contains("reads        2 ");
    }

    @Test
    void tell_nothingWasRead_isSilent() {
        RecordedAccount recorded = RecordedAccount.ofText();
        try (Progress progress = new Progress(recorded.account(), counter, requests::get)) {
            recorded.advance(2);
            progress.tell();
        }

        assertThat(recorded.lines()).isEmpty();
    }

    private void read(int times) {
        for (int i = 0; i < times; i++) {
            counter.read(ObjectKind.SECRET, ObjectKey.of("shop", "db"), true);
        }
    }

    private void miss() {
        ObjectKey key = ObjectKey.of("shop", "db");
        counter.missed(ObjectKind.SECRET, key, "CACHE");
        counter.fetched(ObjectKind.SECRET, key, "first read", null, Duration.ofMillis(1));
        counter.staleServed(ObjectKind.SECRET, key, "CACHE");
        counter.read(ObjectKind.SECRET, ObjectKey.of("shop", "db"), true);
    }
}
