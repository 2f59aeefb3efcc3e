package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {

    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final ReadCounter counter = new ReadCounter();
    private final AtomicLong requests = new AtomicLong(7);

    @Test
    void tell_readsSinceTheLastTime_areOneLine() {
        RecordedAccount recorded = RecordedAccount.ofText();
        try (Progress progress = new Progress(recorded.account(), counter, requests::get)) {
            read(3);
            miss();
            requests.addAndGet(5);
            progress.tell(PERIOD);
            read(2);
            progress.tell(PERIOD);
        }

        assertThat(recorded.lines())
                .containsExactly(
                        "   0.0s  reads        4 reads: 3 hits, 1 fetch (first read 1), 1 served stale; 2.5 requests/s at"
                                + " the server",
                        "   0.0s  reads        2 reads: 2 hits, no fetch; 0.0 requests/s at the server");
    }

    @Test
    void tell_serverThatDoesNotCount_isNotMentioned() {
        RecordedAccount recorded = RecordedAccount.ofJson();
        try (Progress progress = new Progress(recorded.account(), counter, Progress.UNKNOWN)) {
            read(2);
            progress.tell(PERIOD);
        }

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"reads\",\"seconds\":0.000,\"reads\":2,\"hits\":2,\"staleServed\":0,"
                        + "\"failed\":0,\"fetches\":{}}");
    }

    @Test
    void tell_nothingWasRead_isSilent() {
        RecordedAccount recorded = RecordedAccount.ofText();
        try (Progress progress = new Progress(recorded.account(), counter, requests::get)) {
            progress.tell(PERIOD);
        }

        assertThat(recorded.lines()).isEmpty();
    }

    private void read(int times) {
        for (int i = 0; i < times; i++) {
            counter.read(true);
        }
    }

    private void miss() {
        ObjectKey key = ObjectKey.of("shop", "db");
        counter.missed(ObjectKind.SECRET, key, "CACHE");
        counter.fetched(ObjectKind.SECRET, key, "first read", null, Duration.ofMillis(1));
        counter.staleServed(ObjectKind.SECRET, key, "CACHE");
        counter.read(true);
    }
}
