package dev.podcache.cli.observe;

import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.ResourceVersions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Remembers the last observation of each object and reports changes. Thread-safe. */
final class ObjectMonitor {

    private final ConcurrentHashMap<ObjectId, Observation> last = new ConcurrentHashMap<>();
    private final Consumer<ObjectChange> listener;

    /** @param listener called outside all locks */
    ObjectMonitor(Consumer<ObjectChange> listener) {
        this.listener = listener;
    }

    /** Records the result of a read. The first read that finds an object is not reported. */
    void observed(ObjectId id, Observation observation) {
        Observation before = last.get(id);
        while (!observation.equals(before) && !isOlder(observation, before)) {
            if (before == null ? last.putIfAbsent(id, observation) == null : last.replace(id, before, observation)) {
                if (before != null || !observation.isFound()) {
                    listener.accept(new ObjectChange(id, before, observation));
                }
                return;
            }
            before = last.get(id);
        }
    }

    /** Returns the number of objects that were observed. */
    int size() {
        return last.size();
    }

    /** Forgets all other objects. */
    void retain(Set<ObjectId> objects) {
        last.keySet().retainAll(objects);
    }

    /** Two reads may end in the opposite order of their answers. */
    private static boolean isOlder(Observation observation, @Nullable Observation before) {
        return before != null
                && before.isFound()
                && observation.isFound()
                && ResourceVersions.isOlder(observation.value(), before.value());
    }
}
