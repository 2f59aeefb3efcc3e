package dev.podcache.testing;

import io.fabric8.kubeapitest.KubeAPIServerConfigBuilder;
import io.fabric8.kubeapitest.KubeAPITestException;
import io.fabric8.kubeapitest.binary.Binaries;
import io.fabric8.kubeapitest.binary.BinaryManager;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where kube-apiserver, etcd and kubectl are.
 *
 * @param apiServer kube-apiserver
 * @param etcd etcd
 * @param kubectl kubectl
 */
record ServerBinaries(Path apiServer, Path etcd, Path kubectl) {

    /** Value of the system property {@code podcache.realServer} that makes absent binaries a failure. */
    private static final String REQUIRED = "required";

    /** Whether tests against the real server must run. */
    static boolean required() {
        return REQUIRED.equals(System.getProperty("podcache.realServer"));
    }

    /** The folder in which kube-api-test keeps its binaries. */
    static String folder() {
        return KubeAPIServerConfigBuilder.anAPIServerConfig().build().getKubeAPITestDir();
    }

    /**
     * The newest that are on this machine; where the real server is {@link #required()},
     * kube-api-test may download them.
     */
    static Optional<ServerBinaries> find() {
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
        return Optional.of(new ServerBinaries(
                found.getApiServer().toPath(),
                found.getEtcd().toPath(),
                found.getKubectl().toPath()));
    }
}
