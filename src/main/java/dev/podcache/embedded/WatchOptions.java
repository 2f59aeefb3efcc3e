package dev.podcache.embedded;

import java.time.Duration;
import java.util.Objects;

/**
 * How to watch.
 *
 * @param resourceVersion after which changes are wanted; "" or "0" asks for the current objects as ADDED first
 * @param bookmarks whether to send them
 * @param timeout after which the watch ends; zero for never
 */
public record WatchOptions(String resourceVersion, boolean bookmarks, Duration timeout) {

    public WatchOptions {
        Objects.requireNonNull(resourceVersion, "resourceVersion");
        Objects.requireNonNull(timeout, "timeout");
    }

    /** Changes after {@code resourceVersion}, for ever, without bookmarks. */
    public static WatchOptions from(String resourceVersion) {
        return new WatchOptions(resourceVersion, false, Duration.ZERO);
    }
}
