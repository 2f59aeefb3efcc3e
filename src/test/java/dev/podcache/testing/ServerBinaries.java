package dev.podcache.testing;

import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubeapitest.KubeAPITestException;
import io.fabric8.kubeapitest.binary.Binaries;
import io.fabric8.kubeapitest.binary.BinaryManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The paths of kube-apiserver, etcd and kubectl, and the version of the server.
 *
 * @param apiServer kube-apiserver, or a server on the API server library of Kubernetes under its name
 * @param etcd etcd
 * @param kubectl kubectl
 * @param version the version of the API server
 */
record ServerBinaries(Path apiServer, Path etcd, Path kubectl, ServerVersion version) {

    /** The value of the system property {@code podcache.realServer} for which missing binaries are a failure. */
    private static final String REQUIRED = "required";

    private static final Pattern VERSION = Pattern.compile("Kubernetes (v\\S+)\\s*");

    private static final class Installed {
        static final Optional<ServerBinaries> BINARIES = find();
    }

    /** Returns whether tests against the real server must run. */
    static boolean required() {
        return REQUIRED.equals(System.getProperty("podcache.realServer"));
    }

    /** Returns the folder in which kube-api-test stores its binaries. */
    static String folder() {
        return KubeAPIServerConfigBuilder.anAPIServerConfig().build().getKubeAPITestDir();
    }

    /**
     * Returns the newest binaries on this machine, or empty. Searches once per JVM. If the real server is
     * {@link #required()}, kube-api-test may download them.
     */
    static Optional<ServerBinaries> found() {
        return Installed.BINARIES;
    }

    /**
     * Returns whether {@code gitVersion}, which the running server reports at {@code /version}, is the expected
     * version.
     */
    boolean isVersion(String gitVersion) {
        ServerVersion said = ServerVersion.parse(gitVersion);
        return said.major() == version.major()
                && said.minor() == version.minor()
                && said.isStandIn() == version.isStandIn();
    }

    private static Optional<ServerBinaries> find() {
        Optional<ServerBinaries> present = find(true);
        return present.isPresent() || !required() ? present : find(false);
    }

    private static Optional<ServerBinaries> find(boolean offline) {
        BinaryManager manager = new BinaryManager(KubeAPIServerConfigBuilder.anAPIServerConfig()
                .withOfflineMode(offline)
                .build());
        try {
            manager.initAndDownloadIfRequired();
        } catch (KubeAPITestException absent) {
            return Optional.empty();
        }
        Binaries found = manager.binaries();
        Path apiServer = found.getApiServer().toPath();
        // a server on the API server library does not know the flag
        Matcher said = VERSION.matcher(versionSaidBy(apiServer));
        String version = said.matches()
                ? said.group(1)
                : "v"
                        + apiServer
                                .getName(apiServer.getNameCount() - 2)
                                .toString()
                                .replaceFirst("-.*", ServerVersion.STAND_IN);
        return Optional.of(new ServerBinaries(
                apiServer, found.getEtcd().toPath(), found.getKubectl().toPath(), ServerVersion.parse(version)));
    }

    private static String versionSaidBy(Path apiServer) {
        try {
            Process asked = new ProcessBuilder(apiServer.toString(), "--version")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            asked.getOutputStream().close();
            return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
