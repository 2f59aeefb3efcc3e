package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.util.concurrent.CancellationException;

/** The cause of a failed step, without the exceptions in which futures wrap it. */
record Failure(Throwable cause) {

    static Failure of(Throwable thrown) {
        return new Failure(ApiServerException.causeOf(thrown));
    }

    /** Returns whether the API server's answer, or the lack of one, had {@code reason}. */
    boolean is(FailureReason reason) {
        return ApiServerException.reasonOf(cause) == reason;
    }

    /** Returns whether the step was cancelled because the updater was closed. */
    boolean isCancelled() {
        return cause instanceof CancellationException;
    }

    /** Returns a text for log lines and {@link NodeStatusState}. */
    String message() {
        String message = cause.getMessage();
        return message != null && cause instanceof RuntimeException ? message : cause.toString();
    }
}
