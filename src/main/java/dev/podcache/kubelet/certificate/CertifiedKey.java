package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.apiserver.credentials.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

/**
 * A node's certificate, its chain and its private key. Immutable. {@link #toString} does not show the key.
 *
 * @param certificate the certificate of the node
 * @param chain this certificate and its intermediates, in PEM format
 * @param key the private key, of {@code certificate}
 */
record CertifiedKey(X509Certificate certificate, String chain, PrivateKey key) {

    /** The group of nodes, the organization of their certificates. */
    static final String GROUP = "system:nodes";

    private static final Duration SKEW = Duration.ofMinutes(5);
    private static final String CLIENT_AUTHENTICATION = "1.3.6.1.5.5.7.3.2";

    /** Returns the user name of a node, the common name of its certificates. */
    static String userOf(String node) {
        return "system:node:" + node;
    }

    /**
     * Returns the identity of a certificate that was issued for a request.
     *
     * @param pem the certificates in PEM format, the node's first
     * @throws GeneralSecurityException if the certificate is not what was requested; the message says why
     */
    static CertifiedKey issued(String pem, String node, KeyPair keys, Instant now) throws GeneralSecurityException {
        CertifiedKey issued = of(pem, keys.getPrivate());
        X509Certificate certificate = issued.certificate();
        if (!certificate.getPublicKey().equals(keys.getPublic())) {
            throw new CertificateException("it has another public key than the request");
        }
        issued.requireUser(node);
        List<String> usages = certificate.getExtendedKeyUsage();
        if (usages != null && !usages.contains(CLIENT_AUTHENTICATION)) {
            throw new CertificateException("it must not be used by clients");
        }
        if (!issued.isValidAt(now)) {
            String why = now.isBefore(issued.expires())
                    ? "it is not valid before " + certificate.getNotBefore().toInstant()
                    : "it expired at " + issued.expires();
            throw new CertificateException(why + ", and now it is " + now);
        }
        return issued;
    }

    /**
     * Returns an identity that was read from a file.
     *
     * @throws GeneralSecurityException if there is no certificate, or the key does not belong to it
     */
    static CertifiedKey stored(String pem, PrivateKey key) throws GeneralSecurityException {
        CertifiedKey stored = of(pem, key);
        PrivateKeys.requirePair(stored.certificate().getPublicKey(), key);
        return stored;
    }

    private static CertifiedKey of(String pem, PrivateKey key) throws CertificateException {
        String chain = PemText.certificates(pem);
        Collection<? extends Certificate> certificates = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(KeyPairs.bytes(chain)));
        for (Certificate first : certificates) {
            if (first instanceof X509Certificate certificate) {
                return new CertifiedKey(certificate, chain, key);
            }
        }
        throw new CertificateException("there is no certificate in PEM format");
    }

    /**
     * Checks that the certificate is one of a node.
     *
     * @throws CertificateException if it is not; the message names its subject
     */
    void requireUser(String node) throws CertificateException {
        String subject = certificate.getSubjectX500Principal().getName();
        try {
            List<Rdn> parts = new LdapName(subject).getRdns();
            if (parts.contains(new Rdn("CN", userOf(node))) && parts.contains(new Rdn("O", GROUP))) {
                return;
            }
        } catch (InvalidNameException e) {
            // refused below
        }
        throw new CertificateException(
                "its subject is " + subject + ", but must be CN=" + userOf(node) + ",O=" + GROUP);
    }

    Instant expires() {
        return certificate.getNotAfter().toInstant();
    }

    /** Returns whether the certificate is valid. The clock of the signer may be ahead of ours by some minutes. */
    boolean isValidAt(Instant now) {
        Instant start = certificate.getNotBefore().toInstant();
        return now.isBefore(expires()) && !now.plus(SKEW).isBefore(start);
    }

    /** Returns chain and key in PEM format. */
    String pem() {
        return chain + KeyPairs.pem(key);
    }

    @Override
    public String toString() {
        return certificate.getSubjectX500Principal().getName() + " until " + expires();
    }
}
