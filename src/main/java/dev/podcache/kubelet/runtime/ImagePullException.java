package dev.podcache.kubelet.runtime;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if an image could not be pulled. The pod's status and an event show the message, so it must not contain anything
 * secret. Immutable.
 */
public final class ImagePullException extends Exception {

    private static final long serialVersionUID = 1;

    /** Makes an exception with a message for people. */
    public ImagePullException(String message) {
        this(message, null);
    }

    /** Makes an exception with a message for people, and a cause for the log. */
    public ImagePullException(String message, @Nullable Throwable cause) {
        super(Objects.requireNonNull(message, "message"), cause);
    }
}
