package dev.podcache.apiserver;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One event of a watch.
 *
 * @param <T> the model class
 */
public sealed interface WatchEvent<T> {

    /** The server accepted the watch (status 200). */
    record Opened<T>() implements WatchEvent<T> {}

    /**
     * An object was added or modified. There is one event for both, because the difference between ADDED and MODIFIED
     * is not reliable once a watch was resumed.
     */
    record Upserted<T>(Fetched<T> fetched) implements WatchEvent<T> {
        public Upserted {
            Objects.requireNonNull(fetched, "fetched");
        }
    }

    /**
     * An object was deleted, or no longer matches the selector.
     *
     * @param last the last state of the object, with the resourceVersion of the deletion
     */
    record Deleted<T>(Fetched<T> last) implements WatchEvent<T> {
        public Deleted {
            Objects.requireNonNull(last, "last");
        }
    }

    /**
     * An object was added, modified or deleted, but not decoded, because the watch's filter does not accept its name.
     *
     * @param resourceVersion the version of the change, from which a new watch can start; "" if the server sent none
     */
    record Undecoded<T>(String resourceVersion) implements WatchEvent<T> {
        public Undecoded {
            Objects.requireNonNull(resourceVersion, "resourceVersion");
        }
    }

    /**
     * All changes up to {@code resourceVersion} were delivered, so a new watch can start there.
     *
     * @param endsList whether it marks the end of a {@linkplain ListerWatcher#streamList streamed list}
     */
    record Bookmark<T>(String resourceVersion, boolean endsList) implements WatchEvent<T> {
        public Bookmark {
            Objects.requireNonNull(resourceVersion, "resourceVersion");
        }

        /** Makes a bookmark that does not end a streamed list. */
        public Bookmark(String resourceVersion) {
            this(resourceVersion, false);
        }
    }

    /**
     * The watch has ended. This is the last event.
     *
     * @param failure null if the server ended the watch normally, such as after its timeout
     */
    record Ended<T>(@Nullable ApiServerException failure) implements WatchEvent<T> {}
}
