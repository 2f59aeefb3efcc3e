package dev.podcache.apiserver.credentials;

import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of the client, as read at one moment. Immutable.
 *
 * @param number greater than the number of every identity read before
 * @param headers the headers of every request: tokens, impersonation, headers of the caller
 * @param settings the settings of connections, with the client's key and the CAs
 * @param certificate the client certificate, or null
 * @param expires when the credentials expire, or null if unknown
 */
public record Identity(
        long number,
        Map<String, List<String>> headers,
        ConnectionSettings settings,
        @Nullable X509Certificate certificate,
        @Nullable Instant expires) {

    /** Returns whether {@code other} has the same client certificate, so that both can use the same connections. */
    public boolean sharesConnectionsWith(Identity other) {
        return Objects.equals(certificate, other.certificate);
    }

    public boolean isSame(Identity other) {
        return sharesConnectionsWith(other) && headers.equals(other.headers);
    }

    /** Returns subject and expiry, without the headers, which may contain a token. */
    @Override
    public String toString() {
        return "Identity[" + (certificate == null ? "" : certificate.getSubjectX500Principal() + " ") + "until "
                + expires + "]";
    }
}
