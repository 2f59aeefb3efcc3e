package dev.podcache.apiserver.fabric8;

import static dev.podcache.apiserver.fabric8.WireCertificates.base64;

import dev.podcache.testing.KubeconfigFile;
import java.io.IOException;
import java.nio.file.Path;

/** A kubeconfig file of one user, which is replaced in one step, as kubelets do it. */
record WireKubeconfig(Path folder, String url) {

    /** Writes a user with a client certificate of this common name, inline. */
    Path writeCertificate(String commonName) throws IOException {
        return write("client-certificate-data: \"%s\", client-key-data: \"%s\""
                .formatted(base64(WireCertificates.clientPem(commonName)), base64(WireCertificates.keyPem())));
    }

    /** Writes a user with this token, inline. */
    Path writeToken(String token) throws IOException {
        return write("token: \"" + token + "\"");
    }

    /** Writes a user whose credentials an exec plugin knows. */
    Path writePlugin(WirePlugin plugin) throws IOException {
        return write("exec: {apiVersion: %s, command: \"%s\", interactiveMode: Never}"
                .formatted(WirePlugin.VERSION, plugin.command()));
    }

    private Path write(String user) throws IOException {
        return KubeconfigFile.write(folder.resolve("kubeconfig"), url, base64(WireCertificates.authorityPem()), user);
    }
}
