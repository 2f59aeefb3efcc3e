package dev.podcache.apiserver;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a watch tells.
 *
 * @param <T> the model class
 */
public sealed interface WatchEvent<T> {

    /** The server accepted the watch (status 200). */
    record Opened<T>() implements WatchEvent<T> {}

    /**
     * An object appeared or changed: the server's ADDED and MODIFIED, which are not told apart because after a
     * resumption the difference means nothing.
     */
    record Upserted<T>(Fetched<T> fetched) implements WatchEvent<T> {
        public Upserted {
            Objects.requireNonNull(fetched, "fetched");
        }
    }

    /**
     * An object vanished.
     *
     * @param last its last state, with the version of the deletion
     */
    record Deleted<T>(Fetched<T> last) implements WatchEvent<T> {
        public Deleted {
            Objects.requireNonNull(last, "last");
        }
    }

    /** Nothing happened up to {@code resourceVersion}: a watch may go on from there. */
    record Bookmark<T>(String resourceVersion) implements WatchEvent<T> {
        public Bookmark {
            Objects.requireNonNull(resourceVersion, "resourceVersion");
        }
    }

    /**
     * The watch is over.
     *
     * @param failure null if the server ended it in good order, as servers do from time to time
     */
    record Ended<T>(@Nullable ApiServerException failure) implements WatchEvent<T> {}
}
