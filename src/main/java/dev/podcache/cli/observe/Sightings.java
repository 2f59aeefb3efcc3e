package dev.podcache.cli.observe;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ResourceVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what was last seen of each object and tells what is news. Thread-safe; the listener
 * is called outside all locks.
 */
final class Sightings {

    private record Seen(ObjectKind<?> kind, ObjectKey key) {}

    private final ConcurrentHashMap<Seen, Outcome> last = new ConcurrentHashMap<>();
    private final Consumer<Sighting> listener;

    Sightings(Consumer<Sighting> listener) {
        this.listener = listener;
    }

    /** A read of the object ended so. */
    void saw(ObjectKind<?> kind, ObjectKey key, Outcome outcome) {
        List<Sighting> news = new ArrayList<>(1);
        last.compute(new Seen(kind, key), (seen, before) -> {
            if (outcome.equals(before) || isLateReader(before, outcome)) {
                return before;
            }
            news.add(new Sighting(kind, key, before, outcome));
            return outcome;
        });
        news.stream().filter(Sighting::isNews).forEach(listener);
    }

    /** Of how many objects something was seen. */
    int size() {
        return last.size();
    }

    /** Forgets objects that nobody refers to any more. */
    void retain(ObjectKind<?> kind, Set<ObjectKey> keys) {
        last.keySet().removeIf(seen -> seen.kind().equals(kind) && !keys.contains(seen.key()));
    }

    /** Two readers may end in the other order than they began: the one that saw less brings no news. */
    private static boolean isLateReader(@Nullable Outcome before, Outcome outcome) {
        return before instanceof Outcome.Present known
                && outcome instanceof Outcome.Present seen
                && ResourceVersions.isOlder(seen.resourceVersion(), known.resourceVersion());
    }
}
