package dev.podcache.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The command lines of etcd and kube-apiserver on the loopback address.
 *
 * @param folder contains the certificates, under the names of the constants, and the data of etcd
 */
record ServerCommands(ServerBinaries binaries, Path folder) {

    static final String ETCD = "etcd";
    static final String AUTHORITY = "ca.crt";
    static final String CERTIFICATE = "server.crt";
    static final String KEY = "server.key";
    static final String KUBELET_CLIENT = "kubelet-client.crt";
    static final String ACCOUNTS = "accounts.pub";

    /** Returns the command line of etcd. */
    List<String> etcd(String clientUrl, String peerUrl) {
        return List.of(
                binaries.etcd().toString(),
                "--data-dir=" + folder.resolve(ETCD),
                // what was written survives a kill of the process all the same
                "--unsafe-no-fsync=true",
                "--listen-client-urls=" + clientUrl,
                "--advertise-client-urls=" + clientUrl,
                "--listen-peer-urls=" + peerUrl);
    }

    /**
     * Returns the command line of kube-apiserver.
     *
     * @param flags flags that add to the default flags or replace them
     */
    List<String> apiServer(int port, String etcdUrl, String... flags) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("--etcd-servers", etcdUrl);
        all.put("--bind-address", "127.0.0.1");
        all.put("--secure-port", Integer.toString(port));
        all.put("--tls-cert-file", path(CERTIFICATE));
        all.put("--tls-private-key-file", path(KEY));
        all.put("--client-ca-file", path(AUTHORITY));
        all.put("--service-account-issuer", "https://podcache.test");
        all.put("--service-account-key-file", path(ACCOUNTS));
        all.put("--service-account-signing-key-file", path(KEY));
        all.put("--service-cluster-ip-range", "10.0.0.0/24");
        all.put("--endpoint-reconciler-type", "none");
        all.put("--authorization-mode", "Node,RBAC");
        all.put("--enable-admission-plugins", "NodeRestriction");
        if (!binaries.version().isStandIn()) {
            all.put("--kubelet-client-certificate", path(KUBELET_CLIENT));
            all.put("--kubelet-client-key", path(KEY));
            all.put("--kubelet-preferred-address-types", "InternalIP");
        }
        if (!binaries.version().mountsTokenVolumes()) {
            all.put("--feature-gates", "BoundServiceAccountTokenVolume=true");
        }
        for (String flag : flags) {
            String[] parts = flag.split("=", 2);
            all.put(parts[0], parts.length == 2 ? parts[1] : "true");
        }
        List<String> command = new ArrayList<>();
        command.add(binaries.apiServer().toString());
        all.forEach((name, value) -> command.add(name + "=" + value));
        return command;
    }

    private String path(String file) {
        return folder.resolve(file).toString();
    }
}
