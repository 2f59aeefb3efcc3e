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

/** Converts what an HTTP client threw into the {@link ApiServerException} of a request that was not answered. */
public final class NoAnswer {

    private NoAnswer() {}

    /**
     * Returns the failure that {@code thrown} means: {@link FailureReason#TIMEOUT} for a timeout, {@link
     * FailureReason#UNAVAILABLE} for everything else. Returns an {@link ApiServerException} unchanged.
     *
     * @param request names the request, such as {@code GET Secret shop/db}
     * @param server the server's URL, without credentials
     */
    public static ApiServerException because(String request, String server, Throwable thrown) {
        Throwable cause = cut(ApiServerException.causeOf(thrown));
        if (cause instanceof ApiServerException known) {
            return known;
        }
        return ApiServerException.withoutAnswer(
                isTimeout(cause) ? FailureReason.TIMEOUT : FailureReason.UNAVAILABLE,
                request,
                why(cause, server),
                // the illegal argument that it quotes may be a header with a token
                cause instanceof IllegalArgumentException ? null : cause);
    }

    /**
     * Returns the failure of a request during which a port threw, which violates the contract of every port. The
     * message names the class of {@code thrown} but does not quote its message, which may contain anything.
     *
     * @param request names the request, such as {@code GET Secret shop/db}
     */
    public static ApiServerException thrown(String request, Throwable thrown) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNAVAILABLE,
                request,
                "the request ended with an unexpected " + thrown.getClass().getName(),
                thrown);
    }

    /** Returns why a handshake was cut short, if the server or a proxy did so without a word: that says nothing of TLS. */
    private static Throwable cut(Throwable cause) {
        Throwable root = Throwables.getRootCause(cause);
        boolean isCut = cause instanceof SSLException && root instanceof IOException && !(root instanceof SSLException);
        return isCut ? root : cause;
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
            return "the host name in " + server + " could not be resolved: check the server URL and the DNS";
        }
        if (cause instanceof ConnectException) {
            return "no connection to " + server + " (" + cause.getMessage() + ")";
        }
        if (cause instanceof SSLException) {
            // only the root cause says why the handshake failed
            return "no TLS connection to " + server + " ("
                    + Throwables.getRootCause(cause).getMessage()
                    + "): check the CA, the server name and the client certificate";
        }
        if (cause instanceof IllegalArgumentException) {
            return "the request to " + server + " or its answer was not valid HTTP: check the server URL, and that the"
                    + " token and the headers contain no line break";
        }
        String detail = cause instanceof IOException && cause.getMessage() != null
                ? cause.getMessage()
                : cause.getClass().getName();
        return "the connection to " + server + " failed (" + detail + ")";
    }
}
