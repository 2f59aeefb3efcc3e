package dev.podcache.apiserver;

import com.google.common.base.Throwables;
import dev.podcache.object.FailureReason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Why a request was not answered, from what an HTTP client threw. */
public final class NoAnswer {

    private NoAnswer() {}

    /**
     * The failure that {@code thrown} means: {@link FailureReason#TIMEOUT}, else {@link FailureReason#UNAVAILABLE}. An
     * {@link ApiServerException} is returned as it is.
     *
     * @param request what was asked, such as {@code GET Secret shop/db}
     * @param server the server's URL, without credentials
     */
    public static ApiServerException because(String request, String server, Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        if (cause instanceof ApiServerException known) {
            return known;
        }
        return ApiServerException.withoutAnswer(
                isTimeout(cause) ? FailureReason.TIMEOUT : FailureReason.UNAVAILABLE,
                request,
                why(cause, server),
                // an illegal argument may be a header, and a header may be a token
                cause instanceof IllegalArgumentException ? null : cause);
    }

    /**
     * Returns the failure of a request that a port threw at instead of answering, which no port may do. It names the
     * class of what was thrown, never its message, which may quote anything.
     *
     * @param request what was asked, such as {@code GET Secret shop/db}
     */
    public static ApiServerException thrown(String request, Throwable thrown) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNAVAILABLE,
                request,
                "the request could not be made (" + thrown.getClass().getName() + ")",
                thrown);
    }

    private static boolean isTimeout(Throwable cause) {
        return cause instanceof TimeoutException || cause instanceof SocketTimeoutException;
    }

    private static String why(Throwable cause, String server) {
        if (isTimeout(cause)) {
            return "no answer from " + server + " in time";
        }
        if (cause instanceof ClosedChannelException) {
            return "the connection to " + server + " was closed";
        }
        if (cause instanceof UnknownHostException) {
            return "the host of " + server + " has no address";
        }
        if (cause instanceof ConnectException) {
            return "no connection to " + server + " (" + cause.getMessage() + ")";
        }
        if (cause instanceof SSLException) {
            // what is around it says only that there is no connection
            return "no secure connection to " + server + " ("
                    + Throwables.getRootCause(cause).getMessage() + ")";
        }
        if (cause instanceof IllegalArgumentException) {
            return "what was to be sent to " + server + ", or came back, is no HTTP: check the URL, and that token and"
                    + " headers are of one line";
        }
        String detail = cause instanceof IOException && cause.getMessage() != null
                ? cause.getMessage()
                : cause.getClass().getName();
        return "the connection to " + server + " failed (" + detail + ")";
    }
}
