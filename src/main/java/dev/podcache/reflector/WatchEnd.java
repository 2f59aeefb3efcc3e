package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;

/** How a watch ended, as far as it matters for what comes next. */
sealed interface WatchEnd {

    /** The server ended it, as servers do from time to time: watch again at once, from where we are. */
    record InGoodOrder() implements WatchEnd {}

    /** It broke or was refused: watch again after a pause, from where we are. */
    record Broken(ApiServerException failure) implements WatchEnd {}

    /** From where we are it cannot go on: list again. */
    record Unresumable(ApiServerException failure) implements WatchEnd {}

    /** What a failure means. */
    static WatchEnd of(ApiServerException failure) {
        return switch (failure.reason()) {
            // an event that could not be read would come again and again from the same version
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
