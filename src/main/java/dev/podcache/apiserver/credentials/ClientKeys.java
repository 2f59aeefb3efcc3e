package dev.podcache.apiserver.credentials;

import java.io.ByteArrayInputStream;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * A client certificate with its chain and its key, which is sent whatever authorities the server names, as by kubectl.
 * Immutable. {@code toString} does not show the key.
 */
final class ClientKeys extends X509ExtendedKeyManager {

    private static final String ALIAS = "client";

    /** The clock of the issuer may be ahead of ours by so much. */
    private static final Duration SKEW = Duration.ofMinutes(5);

    private final X509Certificate[] chain;
    private final PrivateKey key;

    private ClientKeys(X509Certificate[] chain, PrivateKey key) {
        this.chain = chain;
        this.key = key;
    }

    /**
     * Reads a certificate with its chain, and its key.
     *
     * @throws GeneralSecurityException if one cannot be read, or they do not belong together; the message never quotes them
     */
    static ClientKeys of(String certificatePem, String keyPem) throws GeneralSecurityException {
        X509Certificate[] chain = chain(certificatePem);
        PrivateKey key = PrivateKeys.read(keyPem);
        PrivateKeys.requirePair(chain[0].getPublicKey(), key);
        return new ClientKeys(chain, key);
    }

    /** Returns the first certificate in {@code pem}. */
    static X509Certificate certificate(String pem) throws CertificateException {
        return chain(pem)[0];
    }

    private static X509Certificate[] chain(String pem) throws CertificateException {
        byte[] certificates = PemText.bytes(PemText.certificates(pem));
        try {
            X509Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(certificates))
                    .toArray(new X509Certificate[0]);
            if (chain.length > 0) {
                return chain;
            }
        } catch (CertificateException damaged) {
            // refused below, without what the message quotes
            throw new CertificateException("the certificate is damaged");
        }
        throw new CertificateException("there is no certificate in PEM format");
    }

    /** Returns the client certificate. */
    X509Certificate certificate() {
        return chain[0];
    }

    /** Returns the certificate and its chain in PEM format. */
    String chainPem() {
        StringBuilder pem = new StringBuilder();
        try {
            for (X509Certificate each : chain) {
                pem.append(PemText.of("CERTIFICATE", each.getEncoded()));
            }
        } catch (CertificateException e) {
            throw new IllegalStateException("a certificate that was read cannot be written", e);
        }
        return pem.toString();
    }

    PrivateKey key() {
        return key;
    }

    boolean isTooEarly(Instant now) {
        return now.plus(SKEW).isBefore(chain[0].getNotBefore().toInstant());
    }

    boolean hasExpired(Instant now) {
        return !now.isBefore(chain[0].getNotAfter().toInstant());
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return isOf(keyType) ? new String[] {ALIAS} : null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return Arrays.stream(keyTypes).anyMatch(this::isOf) ? ALIAS : null;
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return chooseClientAlias(keyTypes, issuers, null);
    }

    private boolean isOf(String keyType) {
        return keyType.equals(key.getAlgorithm()) || keyType.startsWith(key.getAlgorithm() + "_");
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return alias.equals(ALIAS) ? chain.clone() : null;
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return alias.equals(ALIAS) ? key : null;
    }

    /** Returns the subject and the end of the certificate. */
    @Override
    public String toString() {
        return chain[0].getSubjectX500Principal().getName() + " until "
                + chain[0].getNotAfter().toInstant();
    }
}
