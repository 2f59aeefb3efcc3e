package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;

/** How a watch ended, which decides the next attempt. */
sealed interface WatchEnd {

    /** The server ended the watch, as servers do from time to time: watch again at once from the last version. */
    record Orderly() implements WatchEnd {}

    /** The watch broke or was refused: watch again from the last version after a pause. */
    record Broken(ApiServerException failure) implements WatchEnd {}

    /** The watch cannot resume from the last version: list again. */
    record Unresumable(ApiServerException failure) implements WatchEnd {}

    /** Returns the end for a failure. */
    static WatchEnd of(ApiServerException failure) {
        return switch (failure.reason()) {
            // an unreadable event would come again from the same version
            case EXPIRED, UNREADABLE, REJECTED -> new Unresumable(failure);
            case NOT_FOUND,
                    FORBIDDEN,
                    UNAUTHORIZED,
                    THROTTLED,
                    UNAVAILABLE,
                    TIMEOUT,
                    CONFLICT,
                    ALREADY_EXISTS,
                    INTERRUPTED -> new Broken(failure);
        };
    }
}
