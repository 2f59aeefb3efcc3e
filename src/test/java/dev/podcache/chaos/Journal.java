package dev.podcache.chaos;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The last things that happened to each object, for who has to find out why something went wrong. Thread-safe. */
final class Journal {

    private static final int KEPT = 40;

    private final RunTime time;
    private final Map<Subject, Deque<String>> lines = new ConcurrentHashMap<>();

    Journal(RunTime time) {
        this.time = time;
    }

    void note(Subject subject, String what) {
        Deque<String> kept = lines.computeIfAbsent(subject, key -> new ArrayDeque<>());
        String line =
                RunTime.seconds(time.now()) + " [" + Thread.currentThread().getName() + "] " + what;
        synchronized (kept) {
            kept.add(line);
            if (kept.size() > KEPT) {
                kept.remove();
            }
        }
    }

    List<String> of(Subject subject) {
        Deque<String> kept = lines.computeIfAbsent(subject, key -> new ArrayDeque<>());
        synchronized (kept) {
            return List.copyOf(kept);
        }
    }
}
