package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.util.concurrent.CancellationException;

/** Why a step failed, freed from what futures wrap it in. */
record Failure(Throwable cause) {

    static Failure of(Throwable thrown) {
        return new Failure(ApiServerException.causeOf(thrown));
    }

    /** Whether the API server's answer, or its silence, meant that. */
    boolean is(FailureReason reason) {
        return cause instanceof ApiServerException failure && failure.reason() == reason;
    }

    /** Whether the step was only given up, because the updater is closed. */
    boolean isCancelled() {
        return cause instanceof CancellationException;
    }

    /** For people. */
    String message() {
        String message = cause.getMessage();
        return message != null && cause instanceof RuntimeException ? message : cause.toString();
    }
}
