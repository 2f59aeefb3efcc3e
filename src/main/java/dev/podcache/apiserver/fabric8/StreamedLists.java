package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ServerRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows whether the API server supports lists that begin a watch ({@code sendInitialEvents}). Decides by the server's
 * version, which it requests in the background when a list is due, and by what the server refuses. Requests the version
 * again after the connection of that request was lost, because the server may have been restarted or upgraded; at most
 * every 10 s. Thread-safe.
 *
 * <p>Kubernetes has streamed lists by default in 1.32, and again from 1.34 on; 1.33 refuses them unless its
 * administrator enabled them. From 1.27 to 1.31 the end of the list comes up to 1.25 s late, and older servers ignore
 * the parameter and never send it. Podcache does not stream lists from any of these.
 */
final class StreamedLists {

    private static final Logger log = LoggerFactory.getLogger(StreamedLists.class);
    private static final ServerRequest VERSION = ServerRequest.get("GET /version", "/version");
    private static final Pattern DIGITS = Pattern.compile("^\\d{1,6}");
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration BETWEEN_REQUESTS = Duration.ofSeconds(10);
    private static final int LONGEST = 64 << 10;

    private final ApiConnections.Session session;
    private @Nullable Boolean supported; // guarded by this, like all that follows; null if unknown
    private @Nullable Long nextRequest; // null before the first

    /**
     * Makes an instance that knows nothing yet.
     *
     * @param session its own: used for no other requests
     */
    StreamedLists(ApiConnections.Session session) {
        this.session = session;
    }

    /** Returns whether the server is known to support streamed lists. Returns at once. */
    boolean supported() {
        boolean connected = session.isConnected();
        long now = session.nanoTime();
        synchronized (this) {
            if (connected && supported != null) {
                return supported;
            }
            supported = null;
            if (nextRequest != null && now - nextRequest < 0) {
                return false;
            }
            nextRequest = now + BETWEEN_REQUESTS.toNanos();
        }
        session.list(VERSION, TIMEOUT, LONGEST, StreamedLists::isInVersion).whenComplete(this::answered);
        return false;
    }

    /** Records that the server refused a streamed list although its version has them. */
    void refused(ApiServerException failure) {
        synchronized (this) {
            if (!Boolean.TRUE.equals(supported)) {
                return;
            }
            supported = false;
        }
        log.info("{}; listing before each watch until the connection to the server is lost", failure.getMessage());
    }

    private synchronized void answered(@Nullable Boolean isInVersion, @Nullable Throwable failure) {
        supported = isInVersion;
        if (failure != null) {
            log.debug("cannot tell whether the server has streamed lists: {}", ApiServerException.describe(failure));
        }
    }

    /** Returns whether a server with this answer to {@code GET /version} has streamed lists by default. */
    static boolean isInVersion(byte[] json) {
        try {
            JsonNode version = new ObjectMapper().readTree(json);
            int major = number(version.path("major"));
            int minor = number(version.path("minor"));
            return major > 1 || (major == 1 && (minor == 32 || minor >= 34));
        } catch (IOException notJson) {
            throw new UncheckedIOException(notJson);
        }
    }

    /** Returns the number at the start of a text such as {@code 36+}; 0 without one. */
    private static int number(JsonNode text) {
        Matcher digits = DIGITS.matcher(text.asText());
        return digits.find() ? Integer.parseInt(digits.group()) : 0;
    }
}
