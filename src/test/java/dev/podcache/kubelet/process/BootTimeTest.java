package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BootTimeTest {

    private static final Duration SINCE_BOOT = Duration.ofHours(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final long boot = OutputLine.hundredths(time.wallTime().minus(SINCE_BOOT));
    private int reads;

    @AfterEach
    void close() {
        time.close();
    }

    /** Reads the uptime, and then has no processor for a while. */
    private long readThenLate(Duration late) {
        long read = OutputLine.hundredths(time.wallTime()) - boot;
        reads++;
        time.advance(late);
        return read;
    }

    @Test
    void hundredths_threadIsSuspendedBetweenTheClocks_areReadAgain() throws IOException {
        long found = BootTime.hundredths(time, () -> readThenLate(reads < 2 ? Duration.ofSeconds(3) : Duration.ZERO));

        assertThat(found).isEqualTo(boot);
        assertThat(reads).isEqualTo(3);
    }

    @Test
    void hundredths_threadIsAlwaysSuspended_areThoseOfTheShortestTime() throws IOException {
        long found = BootTime.hundredths(time, () -> readThenLate(Duration.ofSeconds(reads == 4 ? 1 : 9)));

        assertThat(found).isEqualTo(boot + 100);
    }
}
