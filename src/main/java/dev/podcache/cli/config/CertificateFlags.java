package dev.podcache.cli.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of the kubelet about its client certificate that have no field in the file. */
public final class CertificateFlags {

    private static final Path USUAL = Path.of("/var/lib/kubelet/pki");

    @Option(
            names = "--bootstrap-kubeconfig",
            paramLabel = "FILE",
            description = "a kubeconfig to request the client certificate of the node with, if --kubeconfig does not"
                    + " exist or its certificate has expired; --kubeconfig is then written")
    private @Nullable Path bootstrap;

    @Option(
            names = "--cert-dir",
            paramLabel = "DIR",
            description = "the directory of the requested and rotated certificates (default: /var/lib/kubelet/pki)")
    private @Nullable Path directory;

    @Nullable
    Path bootstrap() {
        return bootstrap;
    }

    Path directory() {
        return directory == null ? USUAL : directory;
    }
}
