package dev.podcache.apiserver.fabric8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;

/** An exec credential plugin: a shell script that counts its starts and prints what a test chose, or hangs, or fails. */
final class WirePlugin implements AutoCloseable {

    static final String VERSION = "client.authentication.k8s.io/v1";

    private final Path script;
    private final Path output;
    private final Path starts;
    private final Path hung;
    private final Path failure;

    WirePlugin(Path folder) throws IOException {
        script = folder.resolve("plugin.sh");
        output = folder.resolve("plugin.json");
        starts = Files.createFile(folder.resolve("plugin.starts"));
        hung = folder.resolve("plugin.hung");
        failure = folder.resolve("plugin.failure");
        Files.writeString(script, """
                #!/bin/sh
                echo started >> %s
                while [ -e %s ]; do sleep 0.1; done
                if [ -e %s ]; then cat %s; exit 1; fi
                cat %s
                """.formatted(starts, hung, failure, failure, output));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }

    String command() {
        return script.toString();
    }

    /** Prints a client certificate of this common name from now on. */
    void returnCertificate(String commonName) throws IOException {
        print("\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\""
                .formatted(
                        WireCertificates.clientPem(commonName).replace("\n", "\\n"),
                        WireCertificates.keyPem().replace("\n", "\\n")));
    }

    /** Prints this token from now on. */
    void returnToken(String token) throws IOException {
        print("\"token\":\"" + token + "\"");
    }

    /** Prints this token from now on, which expires at {@code end}. */
    void returnToken(String token, Instant end) throws IOException {
        print("\"token\":\"" + token + "\",\"expirationTimestamp\":\"" + end + "\"");
    }

    /** Hangs from now on, until {@link #close}. */
    void hang() throws IOException {
        Files.writeString(hung, "");
    }

    /** Prints {@code text} and exits with 1 from now on. */
    void fail(String text) throws IOException {
        Files.writeString(failure, text);
    }

    /** How often it was started. */
    int starts() throws IOException {
        return Files.readAllLines(starts).size();
    }

    private void print(String status) throws IOException {
        Path next = output.resolveSibling("plugin.next");
        Files.writeString(
                next, "{\"apiVersion\":\"%s\",\"kind\":\"ExecCredential\",\"status\":{%s}}".formatted(VERSION, status));
        Files.move(next, output, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Lets those end that hang. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(hung);
    }
}
