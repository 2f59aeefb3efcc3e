package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import org.jspecify.annotations.Nullable;

/**
 * One step of the cluster's history: an object that appeared, changed or vanished. Of {@code before} and
 * {@code after} at least one is there.
 */
record ClusterChange(
        Resource resource,
        ObjectKey key,
        long revision,
        @Nullable StoredObject before,
        @Nullable StoredObject after) {

    /**
     * How a watch sees it: an object that begins to match is ADDED, one that ceases to is DELETED in the state it had
     * while it matched, with the version of this change.
     *
     * @return null if the watch has nothing to do with it
     */
    @Nullable
    ClusterEvent seenBy(Selection selection) {
        boolean matched = before != null && selection.matches(before.json());
        if (after != null && selection.matches(after.json())) {
            return new ClusterEvent(matched ? ClusterEvent.Type.MODIFIED : ClusterEvent.Type.ADDED, after.json());
        }
        if (before == null || !matched) {
            return null;
        }
        StoredObject last = StoredObject.at(revision, before.json().deepCopy());
        return new ClusterEvent(ClusterEvent.Type.DELETED, last.json());
    }
}
