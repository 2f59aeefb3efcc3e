package dev.podcache.testing;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The live threads of this JVM at one moment. Immutable. */
public final class LiveThreads {

    /**
     * Names of threads that serve the whole JVM, whichever code starts them. They include the selector of a JDK
     * {@code HttpClient}, which Java 17 cannot close and which only tests use, and the shared scheduler of fabric8,
     * which ends when it is idle.
     */
    private static final List<String> NAMES_OF_THE_JVM = List.of(
            "process reaper",
            "ForkJoinPool.commonPool-",
            "CompletableFutureDelayScheduler",
            "Common-Cleaner",
            "Cleaner-",
            "JNA Cleaner",
            "Finalizer",
            "Reference Handler",
            "Signal Dispatcher",
            "Attach Listener",
            "Notification Thread",
            "JFR ",
            "Keep-Alive-Timer",
            "HttpClient-",
            "CachedSingleThreadScheduler-",
            "globalEventExecutor-",
            "surefire-",
            "junit-");

    /**
     * Classes of threads that only the JDK creates. A carrier runs virtual threads; in newer JDKs, the selector of an
     * {@code HttpClient} is one.
     */
    private static final Set<String> CLASSES_OF_THE_JVM = Set.of(
            "jdk.internal.misc.InnocuousThread",
            "jdk.internal.misc.CarrierThread",
            "java.util.concurrent.DelayScheduler");

    private final Set<Thread> threads = Thread.getAllStackTraces().keySet();

    LiveThreads() {}

    /** Returns whether a thread serves the whole JVM, so that a test need not end it. */
    public static boolean isOfTheJvm(Thread thread) {
        return CLASSES_OF_THE_JVM.contains(thread.getClass().getName())
                || NAMES_OF_THE_JVM.stream().anyMatch(thread.getName()::startsWith);
    }

    /**
     * Returns the threads that have started since this moment and do not end, except for those of the JVM.
     *
     * @param patience the time to wait for all of them together
     */
    List<Thread> survivors(Duration patience) throws InterruptedException {
        long giveUp = System.nanoTime() + patience.toNanos();
        List<Thread> extra = extra();
        while (!extra.isEmpty()) {
            long left = giveUp - System.nanoTime();
            if (left <= 0) {
                return extra;
            }
            TimeUnit.NANOSECONDS.timedJoin(extra.get(0), left);
            extra = extra();
        }
        return extra;
    }

    private List<Thread> extra() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .filter(thread -> !threads.contains(thread))
                .filter(thread -> !isOfTheJvm(thread))
                .toList();
    }
}
