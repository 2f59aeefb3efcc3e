package dev.podcache.testing;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The threads of this JVM at one moment. Immutable. */
final class LiveThreads {

    /**
     * Threads that serve the whole JVM, whoever started them. The selector of a JDK {@code HttpClient} is among
     * them: Java 17 cannot close it, and nothing of ours but tests uses one. So is fabric8's shared scheduler,
     * which ends by itself when idle.
     */
    private static final List<String> OF_THE_JVM = List.of(
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

    private final Set<Thread> threads = Thread.getAllStackTraces().keySet();

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
                .filter(thread -> OF_THE_JVM.stream().noneMatch(thread.getName()::startsWith))
                .toList();
    }
}
