package dev.podcache.embedded;

import java.time.Duration;
import java.util.Objects;

/**
 * The options of a watch.
 *
 * @param resourceVersion the version after which changes are sent; for "" or "0", the current objects are sent first,
 *     as ADDED
 * @param bookmarks whether to send bookmarks
 * @param timeout the time after which the watch ends; zero for no timeout
 */
public record WatchOptions(String resourceVersion, boolean bookmarks, Duration timeout) {

    public WatchOptions {
        Objects.requireNonNull(resourceVersion, "resourceVersion");
        Objects.requireNonNull(timeout, "timeout");
    }

    /** Returns options for a watch from {@code resourceVersion}, without bookmarks or timeout. */
    public static WatchOptions from(String resourceVersion) {
        return new WatchOptions(resourceVersion, false, Duration.ZERO);
    }
}
