package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import org.jspecify.annotations.Nullable;

/** Decides whether a change may be stored, once the new state of the object is known. */
@FunctionalInterface
interface WriteCheck {

    /** Allows every change. */
    WriteCheck NONE = (resource, key, before, after) -> {};

    /**
     * Returns if the object may be stored. Called under the lock of the cluster: it must not call the cluster.
     *
     * @param before the stored object; null if it is new
     * @throws StatusException if the change is refused
     */
    void write(Resource resource, ObjectKey key, @Nullable ObjectNode before, ObjectNode after);
}
