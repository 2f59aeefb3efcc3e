package dev.podcache.apiserver.http;

import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of the client as they were read at one moment. Immutable.
 *
 * @param number greater than that of every identity read before
 * @param headers of every request: tokens, impersonation, the caller's own
 * @param settings with the client's key and the CAs
 * @param certificate the client's, null if it has none
 * @param expires when it expires, null if that is not known
 */
record Identity(
        long number,
        Map<String, List<String>> headers,
        ConnectionSettings settings,
        @Nullable X509Certificate certificate,
        @Nullable Instant expires) {

    /** Whether a connection that was made with {@code other} shows the same certificate. */
    boolean sharesConnectionsWith(Identity other) {
        return Objects.equals(certificate, other.certificate);
    }

    boolean isSame(Identity other) {
        return sharesConnectionsWith(other) && headers.equals(other.headers);
    }

    /** Without content: a header may be a token. */
    @Override
    public String toString() {
        return "Identity[" + (certificate == null ? "" : certificate.getSubjectX500Principal() + " ") + "until "
                + expires + "]";
    }
}
