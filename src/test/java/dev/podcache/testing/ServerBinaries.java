package dev.podcache.testing;

import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubeapitest.KubeAPITestException;
import io.fabric8.kubeapitest.binary.Binaries;
import io.fabric8.kubeapitest.binary.BinaryManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where kube-apiserver, etcd and kubectl are, and what kind of server it is.
 *
 * @param apiServer kube-apiserver, or a server on Kubernetes' API server library under its name
 * @param etcd etcd
 * @param kubectl kubectl
 * @param version of the API server
 * @param absent what of a kube-apiserver the API server lacks; empty if it is one
 */
record ServerBinaries(Path apiServer, Path etcd, Path kubectl, ServerVersion version, Set<ServerFeature> absent) {

    /** Value of the system property {@code podcache.realServer} that makes absent binaries a failure. */
    private static final String REQUIRED = "required";

    /** What a server on the API server library ends its version with. */
    private static final String LIBRARY = "-library-standin";

    private static final Pattern VERSION = Pattern.compile("Kubernetes (v\\S+)\\s*");

    private static final class Found {
        static final Optional<ServerBinaries> BINARIES = find();
    }

    /** Whether tests against the real server must run. */
    static boolean required() {
        return REQUIRED.equals(System.getProperty("podcache.realServer"));
    }

    /** The folder in which kube-api-test keeps its binaries. */
    static String folder() {
        return KubeAPIServerConfigBuilder.anAPIServerConfig().build().getKubeAPITestDir();
    }

    /**
     * The newest that are on this machine, which are looked for once per JVM; where the real server is {@link
     * #required()}, kube-api-test may download them.
     */
    static Optional<ServerBinaries> found() {
        return Found.BINARIES;
    }

    /** Whether {@code gitVersion}, as the running server says it at {@code /version}, is what these are taken for. */
    boolean isVersion(String gitVersion) {
        ServerVersion said = ServerVersion.parse(gitVersion);
        return said.major() == version.major()
                && said.minor() == version.minor()
                && gitVersion.endsWith(LIBRARY) != absent.isEmpty();
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
        // a server on the library does not know the flag
        Matcher said = VERSION.matcher(versionSaidBy(apiServer));
        boolean full = said.matches() && !said.group(1).endsWith(LIBRARY);
        String version = full
                ? said.group(1)
                : "v"
                        + apiServer
                                .getName(apiServer.getNameCount() - 2)
                                .toString()
                                .replaceFirst("-.*", LIBRARY);
        return Optional.of(new ServerBinaries(
                apiServer,
                found.getEtcd().toPath(),
                found.getKubectl().toPath(),
                ServerVersion.parse(version),
                full ? EnumSet.noneOf(ServerFeature.class) : EnumSet.allOf(ServerFeature.class)));
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
