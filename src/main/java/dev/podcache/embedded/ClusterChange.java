package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import org.jspecify.annotations.Nullable;

/**
 * One committed change of one object.
 *
 * @param revision the revision of the storage after the change
 * @param before the state before the change; null if the object was created
 * @param after the state after the change; null if the object was deleted
 */
record ClusterChange(
        Resource resource,
        ObjectKey key,
        long revision,
        @Nullable StoredObject before,
        @Nullable StoredObject after) {

    /**
     * Returns the event that a watch with this selection receives for the change. An object that starts to match is
     * ADDED. An object that no longer matches is DELETED: the event has the last matching state and the resourceVersion
     * of this change.
     *
     * @return null if the object matches neither before nor after the change
     */
    @Nullable
    ClusterEvent eventFor(Selection selection) {
        boolean matched = before != null && selection.matches(before.json());
        if (after != null && selection.matches(after.json())) {
            return new ClusterEvent(
                    matched ? ClusterEvent.ChangeType.MODIFIED : ClusterEvent.ChangeType.ADDED, after.json());
        }
        if (before == null || !matched) {
            return null;
        }
        StoredObject last = StoredObject.at(revision, before.json().deepCopy());
        return new ClusterEvent(ClusterEvent.ChangeType.DELETED, last.json());
    }
}
