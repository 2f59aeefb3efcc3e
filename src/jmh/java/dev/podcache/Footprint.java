package dev.podcache;

import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;

/** What this JVM held at one moment, to be compared with a later one. */
final class Footprint {

    private static final long SETTLING_MILLIS = 100;

    private final Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    private final long heap;

    private Footprint(long heap) {
        this.heap = heap;
    }

    /** After a full collection; forgets the peak of threads. */
    static Footprint now() throws InterruptedException {
        long heap = heap();
        ManagementFactory.getThreadMXBean().resetPeakThreadCount();
        return new Footprint(heap);
    }

    /** How many threads have come since and live. */
    long newThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !threads.contains(thread))
                .count();
    }

    /** The most threads that lived at one moment since, less those of then. */
    int mostNewThreads() {
        return ManagementFactory.getThreadMXBean().getPeakThreadCount() - threads.size();
    }

    /** By how many bytes the heap has grown, after a full collection. */
    long heapGrowth() throws InterruptedException {
        return heap() - heap;
    }

    /** By how many bytes the heap had grown from {@code earlier} to this. */
    long heapBytesSince(Footprint earlier) {
        return heap - earlier.heap;
    }

    private static long heap() throws InterruptedException {
        // the second finds what cleaners and finalizers of the first have let go
        for (int i = 0; i < 2; i++) {
            System.gc();
            Thread.sleep(SETTLING_MILLIS);
        }
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
