package dev.podcache.kubelet.server;

import dev.podcache.apiserver.credentials.Authorities;
import dev.podcache.object.Subject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.X509TrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authenticates users by certificates that the cluster's authority for clients has signed, after {@code
 * k8s.io/apiserver/pkg/authentication/request/x509}: the common name is the user, the organizations are the groups.
 * Immutable.
 */
final class ClientCertificates {

    private static final Logger log = LoggerFactory.getLogger(ClientCertificates.class);

    /** Accepts no certificate. */
    static final ClientCertificates NONE = new ClientCertificates(Optional.empty());

    private final Optional<X509TrustManager> authority;

    private ClientCertificates(Optional<X509TrustManager> authority) {
        this.authority = authority;
    }

    /**
     * Reads the certificates of the authority.
     *
     * @throws GeneralSecurityException if there is none, or one cannot be read
     */
    static ClientCertificates signedBy(byte[] pem) throws GeneralSecurityException, IOException {
        return new ClientCertificates(Optional.of(Authorities.trusted(new ByteArrayInputStream(pem))));
    }

    /** Returns the certificates of the authority, which the handshake names to clients. */
    List<X509Certificate> authorities() {
        return authority.map(trust -> List.of(trust.getAcceptedIssuers())).orElse(List.of());
    }

    /**
     * Returns the user of a chain of certificates; empty if the authority has not signed it, or it is not valid now or
     * not meant for clients.
     */
    Optional<Subject> userOf(List<X509Certificate> chain) {
        if (chain.isEmpty() || authority.isEmpty()) {
            return Optional.empty();
        }
        X509Certificate own = chain.get(0);
        try {
            authority
                    .get()
                    .checkClientTrusted(
                            chain.toArray(new X509Certificate[0]),
                            own.getPublicKey().getAlgorithm());
            return user(own.getSubjectX500Principal().getName());
        } catch (CertificateException | NamingException e) {
            log.debug("client certificate refused: {}", e.getMessage());
            return Optional.empty();
        }
    }

    private static Optional<Subject> user(String subject) throws NamingException {
        String name = "";
        List<String> groups = new ArrayList<>();
        // in the order of the certificate; as in Go, the last common name counts
        for (Rdn rdn : new LdapName(subject).getRdns()) {
            for (Attribute attribute : Collections.list(rdn.toAttributes().getAll())) {
                for (Object value : Collections.list(attribute.getAll())) {
                    if (attribute.getID().equalsIgnoreCase("CN")) {
                        name = String.valueOf(value);
                    } else if (attribute.getID().equalsIgnoreCase("O")
                            && !String.valueOf(value).isEmpty()) {
                        groups.add(String.valueOf(value));
                    }
                }
            }
        }
        return name.isEmpty() ? Optional.empty() : Optional.of(Subject.user(name, groups, "", Map.of()));
    }
}
