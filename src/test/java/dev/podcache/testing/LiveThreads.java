package dev.podcache.testing;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The threads of this JVM at one moment. Immutable. */
public final class LiveThreads {

    /**
     * Threads that serve the whole JVM, whoever started them. The selector of a JDK {@code HttpClient} is among
     * them: Java 17 cannot close it, and nothing of ours but tests uses one. So is fabric8's shared scheduler,
     * which ends by itself when idle.
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
     * Classes of threads that only the JDK makes. A carrier runs virtual threads, and in newer JDKs the selector of
     * an {@code HttpClient} is one.
     */
    private static final Set<String> CLASSES_OF_THE_JVM = Set.of(
            "jdk.internal.misc.InnocuousThread",
            "jdk.internal.misc.CarrierThread",
            "java.util.concurrent.DelayScheduler");

    private final Set<Thread> threads = Thread.getAllStackTraces().keySet();

    LiveThreads() {}

    /** Tells whether a thread serves the whole JVM, so that no test can be asked to end it. */
    public static boolean isOfTheJvm(Thread thread) {
        return CLASSES_OF_THE_JVM.contains(thread.getClass().getName())
                || NAMES_OF_THE_JVM.stream().anyMatch(thread.getName()::startsWith);
    }

    /**
     * Those that have come since, are not the JVM's own, and do not end while we wait.
     *
     * @param patience how long to wait for all of them together
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
