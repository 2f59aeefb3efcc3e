package dev.podcache.apiserver.fabric8;

import dev.podcache.testing.TestCertificates;
import java.nio.charset.StandardCharsets;
import java.security.PublicKey;
import java.time.Instant;
import java.util.Base64;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLContext;

/** The certificate authority of the servers and clients of this package's tests. */
final class WireCertificates {

    private static final TestCertificates AUTHORITY = orFail(TestCertificates::new);

    private WireCertificates() {}

    /** The certificate of the authority, as PEM. */
    static String authorityPem() {
        return orFail(AUTHORITY::authorityPem);
    }

    /** The private key of every certificate, as PEM. */
    static String keyPem() {
        return AUTHORITY.privateKeyPem();
    }

    /** A client certificate with this common name, as PEM. */
    static String clientPem(String commonName) {
        return orFail(() -> AUTHORITY.userPem(commonName));
    }

    /** A client certificate with this common name and another key than {@link #keyPem}, as PEM. */
    static String clientPem(PublicKey key, String commonName) {
        Instant now = Instant.now();
        return orFail(() -> AUTHORITY.userPemOf(key, commonName, now, now.plusSeconds(3600)));
    }

    /** A certificate of a server on the loopback address, as PEM. */
    static String serverPem() {
        return orFail(AUTHORITY::serverPem);
    }

    /** A certificate of a server of this DNS name or IP address, as PEM. */
    static String serverPem(String name) {
        return orFail(() -> AUTHORITY.serverPemFor(name));
    }

    /** TLS of a server on the loopback address. */
    static SSLContext serverTls() {
        return orFail(AUTHORITY::serverTls);
    }

    /** What a kubeconfig calls {@code ...-data}. */
    static String base64(String pem) {
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    }

    private static <T> T orFail(Callable<T> made) {
        try {
            return made.call();
        } catch (Exception e) {
            throw new IllegalStateException("this Java runtime cannot make a certificate", e);
        }
    }
}
