package dev.podcache.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Base64;

/** Writes kubeconfig files with one user. Replaces an existing file atomically, as kubelets do. */
public final class KubeconfigFile {

    private KubeconfigFile() {}

    /**
     * Writes a kubeconfig file.
     *
     * @param url the URL of the server
     * @param authority the certificate of the server's certificate authority, as PEM in base64
     * @param user the fields of the user in one line of YAML, such as {@code token: "abc"}
     * @return the file
     */
    public static Path write(Path file, String url, String authority, String user) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.writeString(next, """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: test}}]
                clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: "%s"}}]
                users: [{name: test, user: {%s}}]
                """.formatted(url, authority, user));
        return Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Writes a kubeconfig file of the administrator of {@code server}, with a certificate that is valid until
     * {@code end}.
     */
    public static Path write(Path file, RealApiServer server, Instant end) throws IOException {
        Path certificate = file.resolveSibling(file.getFileName() + ".pem");
        server.writeCertificate(certificate, end);
        String encoded = Base64.getEncoder().encodeToString(Files.readAllBytes(certificate));
        return write(
                file,
                server.url(),
                server.config().getCaCertData(),
                "client-certificate-data: \"%s\", client-key-data: \"%s\""
                        .formatted(encoded, server.config().getClientKeyData()));
    }
}
