package dev.podcache.cli;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Lets a process run for 15 ms of every 100 ms, as a CPU limit of 150m does on one processor. Sends signals, because a test
 * may not change cgroups everywhere. Another process does it until the limited one ends.
 */
final class CpuLimit {

    private static final long ENDS_WITHIN_SECONDS = 60;

    private final Process signals;

    private CpuLimit(Process signals) {
        this.signals = signals;
    }

    /** Limits a process from now on. */
    static CpuLimit of150m(Process limited) throws IOException {
        return new CpuLimit(new ProcessBuilder(
                        "sh",
                        "-c",
                        "while kill -STOP $0 2>/dev/null; do sleep 0.085; kill -CONT $0 2>/dev/null; sleep 0.015; done",
                        Long.toString(limited.pid()))
                .start());
    }

    /** Ends the limit. The process may be left stopped, so kill it. */
    void close() {
        signals.destroyForcibly();
        try {
            if (!signals.waitFor(ENDS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + signals.pid() + " survives being killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
