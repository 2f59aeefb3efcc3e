package dev.podcache.testing;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;

/**
 * The client configurations of the users of a test server. Each user has a client certificate.
 *
 * @param folder the folder for kubeconfig files
 */
record ServerUsers(String url, TestCertificates certificates, Path folder) {

    /** Returns the client configuration of a user. */
    Config config(String user, String... groups) {
        try {
            return new ConfigBuilder(Config.empty())
                    .withMasterUrl(url)
                    // the timeout of requests by tests; the library has its own timeouts
                    .withRequestTimeout(
                            (int) Duration.ofSeconds(Patience.SECONDS).toMillis())
                    .withCaCertData(base64(certificates.authorityPem()))
                    .withClientCertData(base64(certificates.userPem(user, groups)))
                    .withClientKeyData(base64(certificates.privateKeyPem()))
                    .withClientKeyAlgo("RSA")
                    .withRequestRetryBackoffLimit(0)
                    .build();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes a kubeconfig file of a user and returns its path. */
    Path kubeconfig(String user, String... groups) {
        try {
            String text = """
                    apiVersion: v1
                    kind: Config
                    current-context: test
                    contexts: [{name: test, context: {cluster: test, user: test}}]
                    clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: "%s"}}]
                    users: [{name: test, user: {client-certificate-data: "%s", client-key-data: "%s"}}]
                    """.formatted(
                            url,
                            base64(certificates.authorityPem()),
                            base64(certificates.userPem(user, groups)),
                            base64(certificates.privateKeyPem()));
            return Files.writeString(Files.createTempFile(folder, "kubeconfig", ".yaml"), text);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
