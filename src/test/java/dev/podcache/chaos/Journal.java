package dev.podcache.chaos;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The last things that happened to each object and the last faults, for who has to find out why something went wrong.
 * Thread-safe.
 */
final class Journal {

    private static final int KEPT = 40;

    private final RunTime time;
    private final Map<CachedObject, Deque<String>> lines = new ConcurrentHashMap<>();
    private final Deque<String> faults = new ArrayDeque<>();

    Journal(RunTime time) {
        this.time = time;
    }

    void note(CachedObject subject, String what) {
        note(lines.computeIfAbsent(subject, key -> new ArrayDeque<>()), what);
    }

    /** Of all objects. */
    void noteFault(String what) {
        note(faults, what);
    }

    private void note(Deque<String> kept, String what) {
        String line =
                RunTime.seconds(time.now()) + " [" + Thread.currentThread().getName() + "] " + what;
        synchronized (kept) {
            kept.add(line);
            if (kept.size() > KEPT) {
                kept.remove();
            }
        }
    }

    List<String> of(CachedObject subject) {
        return copy(lines.computeIfAbsent(subject, key -> new ArrayDeque<>()));
    }

    List<String> faults() {
        return copy(faults);
    }

    private static List<String> copy(Deque<String> kept) {
        synchronized (kept) {
            return List.copyOf(kept);
        }
    }
}
