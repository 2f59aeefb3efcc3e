package dev.podcache.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Splitter;
import com.google.common.base.Strings;
import dev.podcache.apiserver.credentials.Kubeconfig;
import dev.podcache.cli.config.ClusterAccess;
import io.fabric8.kubernetes.client.Config;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/**
 * What the credentials in a configuration say about themselves, without asking the server. Immutable.
 *
 * @param kind such as {@code client certificate}
 * @param user the user that they name; empty if they name none
 * @param expires null if unknown
 */
record ClientCredentials(String kind, String user, @Nullable Instant expires) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int TOKEN_PARTS = 3;
    private static final String CERTIFICATE = "client certificate";
    private static final String SERVICE_ACCOUNT = "system:serviceaccount:";

    /**
     * Returns the name of these credentials' user at an API server that accepts them; empty if it depends on settings, as
     * the claim and the prefix of a user name in most tokens do, or if it sees another user instead.
     */
    String userAtServer(Config config) {
        boolean known = kind.equals(CERTIFICATE) || user.startsWith(SERVICE_ACCOUNT);
        return known && Strings.isNullOrEmpty(config.getImpersonateUsername()) ? user : "";
    }

    /** Returns the token if there is one, because it wins over a certificate, else the certificate; empty if no request has credentials. */
    static Optional<ClientCredentials> of(Config config) {
        return token(config)
                .map(ClientCredentials::ofToken)
                .or(() -> certificate(config))
                .or(() -> ClusterAccess.isAnonymous(config)
                        ? Optional.empty()
                        : Optional.of(new ClientCredentials("credentials of another kind", "", null)));
    }

    private static Optional<String> token(Config config) {
        return Stream.of(Kubeconfig.tokenWithoutPlugin(config), config.getOauthToken(), config.getAutoOAuthToken())
                .filter(token -> !Strings.isNullOrEmpty(token))
                .findFirst();
    }

    /** Reads a token that is a JWT; nothing is known of another one. Its signature is not checked. */
    private static ClientCredentials ofToken(String token) {
        List<String> parts = Splitter.on('.').splitToList(token);
        if (parts.size() == TOKEN_PARTS) {
            try {
                JsonNode claims = JSON.readTree(Base64.getUrlDecoder().decode(parts.get(1)));
                JsonNode end = claims.path("exp");
                return new ClientCredentials(
                        "token",
                        claims.path("sub").asText(""),
                        end.isNumber() ? Instant.ofEpochSecond(end.asLong()) : null);
            } catch (IOException | IllegalArgumentException | DateTimeException e) {
                // another form of token; its text must appear nowhere
            }
        }
        return new ClientCredentials("token", "", null);
    }

    private static Optional<ClientCredentials> certificate(Config config) {
        try {
            byte[] pem;
            if (!Strings.isNullOrEmpty(config.getClientCertData())) {
                pem = Base64.getMimeDecoder().decode(config.getClientCertData());
            } else if (!Strings.isNullOrEmpty(config.getClientCertFile())) {
                pem = Files.readAllBytes(Path.of(config.getClientCertFile()));
            } else {
                return Optional.empty();
            }
            X509Certificate certificate = (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem));
            return Optional.of(new ClientCredentials(
                    CERTIFICATE,
                    commonName(certificate),
                    certificate.getNotAfter().toInstant()));
        } catch (IOException | CertificateException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static String commonName(X509Certificate certificate) {
        try {
            return new LdapName(certificate.getSubjectX500Principal().getName())
                    .getRdns().stream()
                            .filter(part -> part.getType().equalsIgnoreCase("CN"))
                            .map(Rdn::getValue)
                            .map(String::valueOf)
                            .findFirst()
                            .orElse("");
        } catch (InvalidNameException e) {
            return "";
        }
    }
}
