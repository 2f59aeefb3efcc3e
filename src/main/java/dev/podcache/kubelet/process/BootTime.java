package dev.podcache.kubelet.process;

import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Reads when this machine was started, from which {@code supervise.sh} counts the times of lines. */
final class BootTime {

    private static final Path UPTIME = Path.of("/proc/uptime");

    /** As exact as the times of lines are. */
    private static final Duration CLOSE = Duration.ofMillis(10);

    private static final int TRIES = 10;

    private BootTime() {}

    /** Reads how long the machine has run. */
    interface Uptime {

        /** Returns hundredths of a second. */
        long hundredths() throws IOException;
    }

    /** Returns hundredths of a second since 1970. */
    static long hundredths(Timekeeper timekeeper) throws IOException {
        return hundredths(timekeeper, BootTime::uptime);
    }

    /**
     * Returns hundredths of a second since 1970. Reads both clocks again if the thread had no processor in between, because the
     * times of all lines would be late by that.
     */
    static long hundredths(Timekeeper timekeeper, Uptime uptime) throws IOException {
        long boot = 0;
        long closest = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && closest > CLOSE.toNanos(); i++) {
            long begun = timekeeper.nanoTime();
            long sinceBoot = uptime.hundredths();
            long now = OutputLine.hundredths(timekeeper.wallTime());
            long apart = timekeeper.nanoTime() - begun;
            if (apart < closest) {
                closest = apart;
                boot = now - sinceBoot;
            }
        }
        return boot;
    }

    private static long uptime() throws IOException {
        String text = Files.readString(UPTIME, StandardCharsets.US_ASCII);
        return Long.parseLong(text.substring(0, text.indexOf(' ')).replace(".", ""));
    }
}
