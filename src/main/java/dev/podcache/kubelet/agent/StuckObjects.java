package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Finds referenced objects that cannot be read for longer than a grace period: the API server forbids it, or their watch
 * has never been established. The period begins when a check first sees the object so. Thread-safe.
 */
final class StuckObjects {

    static final Duration GRACE = Duration.ofMinutes(1);

    private final Supplier<List<ObjectEntry>> entries;
    private final Timekeeper timekeeper;
    private Map<ObjectName, Long> since = new HashMap<>(); // guarded by this

    private record ObjectName(ObjectKind<?> kind, ObjectKey key) implements Comparable<ObjectName> {

        /** Keeps maps fast that have many names of one hash code, see {@link ObjectKey#compareTo}. */
        @Override
        public int compareTo(ObjectName other) {
            int byKey = key.compareTo(other.key);
            return byKey == 0 ? kind.name().compareTo(other.kind.name()) : byKey;
        }

        static ObjectName of(ObjectEntry entry) {
            return new ObjectName(entry.kind(), entry.key());
        }

        @Override
        public String toString() {
            return kind.name() + " " + key;
        }
    }

    StuckObjects(Supplier<List<ObjectEntry>> entries, Timekeeper timekeeper) {
        this.entries = entries;
        this.timekeeper = timekeeper;
    }

    /** Returns the number of these objects, and the name and the reason of one; empty if there is none. */
    Optional<String> problem() {
        List<ObjectEntry> stuck =
                entries.get().stream().filter(StuckObjects::isStuck).toList();
        long now = timekeeper.nanoTime();
        List<ObjectEntry> late;
        synchronized (this) {
            Map<ObjectName, Long> before = since;
            since = stuck.stream()
                    .map(ObjectName::of)
                    .collect(Collectors.toMap(
                            name -> name, name -> before.getOrDefault(name, now), (one, same) -> one, HashMap::new));
            late = stuck.stream()
                    .filter(entry -> now - since.getOrDefault(ObjectName.of(entry), now) >= GRACE.toNanos())
                    .toList();
        }
        return late.stream().findFirst().map(first -> text(first, late.size()));
    }

    private static String text(ObjectEntry first, int count) {
        return count == 1
                ? ObjectName.of(first) + " cannot be read: " + reason(first)
                : count + " objects cannot be read, such as " + ObjectName.of(first) + ": " + reason(first)
                        + "; /debug/objects shows all";
    }

    private static String reason(ObjectEntry entry) {
        return entry.lastFailure().map(StuckObjects::message).orElse("its watch has brought no answer yet");
    }

    /** Quotes the message of an API server's failure, which has no content; nothing is known of other messages. */
    private static String message(Throwable failure) {
        return failure instanceof ApiServerException known
                ? Quoted.text(String.valueOf(known.getMessage()))
                : failure.getClass().getName();
    }

    private static boolean isStuck(ObjectEntry entry) {
        boolean forbidden = entry.lastFailure()
                .map(failure -> ApiServerException.reasonOf(failure) == FailureReason.FORBIDDEN)
                .orElse(false);
        return forbidden || entry.cacheState() == CacheState.NOT_SYNCED;
    }
}
