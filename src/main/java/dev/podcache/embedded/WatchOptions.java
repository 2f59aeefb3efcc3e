package dev.podcache.embedded;

import java.time.Duration;
import java.util.Objects;

/**
 * The options of a watch.
 *
 * @param resourceVersion the version after which changes are sent; for "" or "0", the current objects are sent first,
 *     as ADDED. With {@code initialEvents}, these objects must not be older than this version; for "", they are the
 *     latest
 * @param initialEvents whether the current objects are sent first; with {@code bookmarks}, a bookmark follows that
 *     marks their end
 * @param bookmarks whether to send bookmarks
 * @param timeout the time after which the watch ends; zero for no timeout
 */
public record WatchOptions(String resourceVersion, boolean initialEvents, boolean bookmarks, Duration timeout) {

    public WatchOptions {
        Objects.requireNonNull(resourceVersion, "resourceVersion");
        Objects.requireNonNull(timeout, "timeout");
    }

    /** Returns options for a watch without initial events. */
    public WatchOptions(String resourceVersion, boolean bookmarks, Duration timeout) {
        this(resourceVersion, false, bookmarks, timeout);
    }

    /** Returns options for a watch from {@code resourceVersion}, without bookmarks or timeout. */
    public static WatchOptions from(String resourceVersion) {
        return new WatchOptions(resourceVersion, false, Duration.ZERO);
    }
}
