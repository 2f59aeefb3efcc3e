package dev.podcache.kubelet.probe;

import java.net.ConnectException;
import org.jspecify.annotations.Nullable;

/**
 * The address that a check connects to. Immutable.
 *
 * @param host a name or an IP address
 */
record ProbeAddress(String host, int port) {

    /** Returns the message of a failed connection, as Go words it. */
    String dialed(Throwable failure) {
        return "dial tcp " + this + ": "
                + (isRefused(failure) ? "connect: connection refused" : String.valueOf(failure.getMessage()));
    }

    static boolean isRefused(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException
                    && String.valueOf(cause.getMessage()).contains("refused")) {
                return true;
            }
        }
        return false;
    }

    /** Returns {@code host:port}, with an IPv6 address in brackets. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
