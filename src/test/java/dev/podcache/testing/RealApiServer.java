package dev.podcache.testing;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * A real kube-apiserver with a real etcd, on the loopback address. Each of them can be stopped, killed and started
 * again, and keeps its ports and data. Thread-safe. Starts no thread in this JVM.
 *
 * <p>Use {@link #shared()} for tests that only use the API, and {@link #restartable()} for tests that stop the server.
 * A test that needs flags {@linkplain #start starts} its own server and closes it. No controllers run, so there is no
 * garbage collection and no scheduler. The objects that controllers create in a namespace for ordinary pods exist in
 * {@code default} and in namespaces from {@link #createNamespace}.
 *
 * <p>The server connects to kubelets at their InternalIP, as an administrator, and does not verify their certificates.
 *
 * <p>The caller must close every client that it gets.
 */
public final class RealApiServer implements AutoCloseable {

    private static final String BACKUP = "backup";
    private static final String ADMIN = "admin";
    private static final String ADMINS = "system:masters";

    private final ServerBinaries binaries;
    private final Path folder;
    private final TestCertificates certificates;
    private final AdminHttp admin;
    private final ServerUsers users;
    private final String url;
    private final String etcdUrl;
    private final ServerProcess etcd;
    private final ServerProcess apiServer;
    private final Thread atExit = new Thread(this::end, "real-apiserver-exit");

    private static final class SharedServer {
        static final RealApiServer SERVER = start();
    }

    private static final class Restartable {
        static final RealApiServer SERVER = start();
    }

    /** Returns the server that all tests of this JVM share. It runs until the JVM ends. */
    public static RealApiServer shared() {
        return SharedServer.SERVER;
    }

    /** Returns a second shared server, which tests may stop, kill and start. It is running when it is returned. */
    public static RealApiServer restartable() {
        RealApiServer server = Restartable.SERVER;
        server.etcd.start();
        server.apiServer.start();
        return server;
    }

    /**
     * Starts a server, which the caller must close, and waits until it is ready. Takes some seconds.
     *
     * @param flags flags of kube-apiserver, such as {@code --http2-max-streams-per-connection=100}; they add to the
     *     default flags or replace them
     * @throws IllegalStateException if binaries are missing or a program does not start; the message has the reason
     */
    public static RealApiServer start(String... flags) {
        ServerBinaries binaries = ServerBinaries.found()
                .orElseThrow(() -> new IllegalStateException(
                        "no kube-apiserver under " + ServerBinaries.folder() + "; mark the test with @RealServerTest"));
        RealApiServer server;
        try {
            server = new RealApiServer(binaries, flags);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot prepare a real API server", e);
        }
        Runtime.getRuntime().addShutdownHook(server.atExit);
        try {
            server.etcd.start();
            server.apiServer.start();
            server.checkVersion();
            server.addWhatPodsMount("default");
            return server;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private RealApiServer(ServerBinaries binaries, String... flags) throws IOException, GeneralSecurityException {
        this.binaries = binaries;
        folder = Files.createTempDirectory("podcache-apiserver");
        certificates = new TestCertificates();
        admin = new AdminHttp(certificates.tlsAs(ADMIN, ADMINS));
        ServerCommands commands = new ServerCommands(binaries, folder);
        List<Integer> ports = FreePorts.find(3);
        url = "https://127.0.0.1:" + ports.get(0);
        users = new ServerUsers(url, certificates, folder);
        etcdUrl = "http://127.0.0.1:" + ports.get(1);
        write(ServerCommands.AUTHORITY, certificates.authorityPem());
        write(ServerCommands.CERTIFICATE, certificates.serverPem());
        // as kubeadm names it
        write(ServerCommands.KUBELET_CLIENT, certificates.userPem("kube-apiserver-kubelet-client", ADMINS));
        write(ServerCommands.KEY, certificates.privateKeyPem());
        write(ServerCommands.ACCOUNTS, certificates.publicKeyPem());
        etcd = new ServerProcess(
                "etcd",
                commands.etcd(etcdUrl, "http://127.0.0.1:" + ports.get(2)),
                folder,
                () -> admin.isOk(etcdUrl + "/health"));
        apiServer = new ServerProcess(
                "kube-apiserver",
                commands.apiServer(ports.get(0), etcdUrl, flags),
                folder,
                // the server creates its namespaces shortly after it reports that it is ready
                () -> admin.isOk(url() + "/readyz") && admin.isOk(url() + "/api/v1/namespaces/default"));
    }

    /** Returns the version of the server binaries on this machine, or empty if there are none. */
    public static Optional<ServerVersion> versionFound() {
        return ServerBinaries.found().map(ServerBinaries::version);
    }

    /** Returns the version of this server. */
    public ServerVersion version() {
        return binaries.version();
    }

    /** Returns whether the server has a feature. */
    public boolean has(ServerFeature feature) {
        return feature.isIn(version());
    }

    /** Returns the URL of the API, such as {@code https://127.0.0.1:23456}. */
    public String url() {
        return url;
    }

    /** Returns a TLS context with the credentials of the administrator, for other HTTP clients. */
    public SSLContext tls() {
        return admin.tls();
    }

    /** Returns a TLS context with the credentials of the user of {@link #clientFor}. */
    public SSLContext tlsAs(String user, String... groups) {
        try {
            return certificates.tlsAs(user, groups);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the process of kube-apiserver. */
    public ServerProcess apiServer() {
        return apiServer;
    }

    /** Returns the process of etcd. */
    public ServerProcess etcd() {
        return etcd;
    }

    /** Returns a new client of the administrator, without retries. */
    public KubernetesClient client() {
        return clientFor(ADMIN, ADMINS);
    }

    /**
     * Returns a new client of another user, who has a client certificate and no permissions.
     *
     * @param user such as {@code system:node:worker-1}
     * @param groups such as {@code system:nodes}
     */
    public KubernetesClient clientFor(String user, String... groups) {
        return new KubernetesClientBuilder().withConfig(configFor(user, groups)).build();
    }

    /**
     * Returns the client configuration of the kubelet of a node. On a server without a Node authorizer, it has the
     * permissions of an administrator.
     */
    public Config nodeConfig(String node) {
        return configFor("system:node:" + node, nodeGroups());
    }

    /** Returns a kubeconfig file with {@link #nodeConfig}. It is deleted with this server. */
    public Path nodeKubeconfig(String node) {
        return kubeconfigFor("system:node:" + node, nodeGroups());
    }

    /**
     * Returns a signer of a node's certificates, as a cluster has one in its kube-controller-manager. The caller must close
     * it.
     */
    public CertificateSigner signer(String node) {
        return new CertificateSigner(client(), certificates, node);
    }

    /** Returns the client configuration of a user with a bearer token. */
    public Config tokenConfig(String token) {
        return new ConfigBuilder(config())
                .withClientCertData(null)
                .withClientKeyData(null)
                .withOauthToken(token)
                .build();
    }

    /** Returns the configuration of {@link #client()}. */
    public Config config() {
        return configFor(ADMIN, ADMINS);
    }

    /** Returns the configuration of {@link #clientFor}. */
    public Config configFor(String user, String... groups) {
        return users.config(user, groups);
    }

    /**
     * Writes a certificate of the administrator that is valid until {@code end}. Its key is the key in
     * {@link #config()}.
     */
    public void writeCertificate(Path file, Instant end) {
        try {
            Files.writeString(file, certificates.userPemUntil(end, ADMIN, ADMINS));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a kubeconfig file of the administrator. It is deleted with this server. */
    public Path kubeconfig() {
        return kubeconfigFor(ADMIN, ADMINS);
    }

    /** Returns a kubeconfig file of the user of {@link #clientFor}. It is deleted with this server. */
    public Path kubeconfigFor(String user, String... groups) {
        return users.kubeconfig(user, groups);
    }

    /**
     * Runs kubectl as the administrator.
     *
     * @return its output
     * @throws IllegalStateException if it exits with a code other than 0; the message has its error output
     */
    public String kubectl(String... arguments) {
        return new Kubectl(binaries.kubectl(), kubeconfig(), folder).run(arguments);
    }

    /**
     * Creates a namespace with the objects that every pod mounts: the service account {@code default} and the root
     * certificate.
     */
    public void createNamespace(String name) {
        admin.create(url + "/api/v1/namespaces", "{\"metadata\":{\"name\":\"" + name + "\"}}");
        addWhatPodsMount(name);
    }

    /** Creates a namespace with a unique name. */
    public String createNamespaceLike(String prefix) {
        String name = prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
        createNamespace(name);
        return name;
    }

    /** Returns the current metrics of the API server. */
    public ServerMetrics metrics() {
        return new ServerMetrics(admin.get(url + "/metrics"), version());
    }

    /**
     * Compacts etcd up to {@code resourceVersion}. Older versions are gone at once, as they are after some minutes
     * otherwise.
     */
    public void compact(String resourceVersion) {
        admin.post(etcdUrl + "/v3/kv/compaction", "{\"revision\":\"" + resourceVersion + "\"}");
    }

    /** Compacts etcd up to the current version. Fails if nothing has changed since the last compaction. */
    public void compact() {
        compact(admin.post(etcdUrl + "/v3/maintenance/status", "{}")
                .at("/header/revision")
                .asText());
    }

    /** Restarts both programs, and keeps a copy of the data of etcd as it is while they stand. */
    public void backUp() {
        apiServer.stop();
        etcd.stop();
        copy(folder.resolve(ServerCommands.ETCD), folder.resolve(BACKUP));
        etcd.start();
        apiServer.start();
    }

    /**
     * Restarts both programs on the data of the last {@link #backUp}, as an administrator restores etcd: what was written
     * since is gone, and resourceVersions go back. Kills them, which takes less time.
     */
    public void restore() {
        apiServer.kill();
        etcd.kill();
        copy(folder.resolve(BACKUP), folder.resolve(ServerCommands.ETCD));
        etcd.start();
        apiServer.start();
    }

    /** Makes a folder a copy of another one. */
    private static void copy(Path from, Path to) {
        try {
            delete(to);
            try (Stream<Path> files = Files.walk(from)) {
                for (Path file : files.toList()) {
                    Files.copy(file, to.resolve(from.relativize(file)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Kills both programs and deletes their data. Idempotent. */
    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // the shutdown hook is running and cleans up
        }
    }

    private void end() {
        apiServer.kill();
        etcd.kill();
        try {
            delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates the objects that controllers create in a real cluster. */
    private void addWhatPodsMount(String namespace) {
        String path = url + "/api/v1/namespaces/" + namespace;
        if (has(ServerFeature.SERVICE_ACCOUNTS)) {
            admin.create(path + "/serviceaccounts", "{\"metadata\":{\"name\":\"default\"}}");
        }
        String json = "{\"metadata\":{\"name\":\"kube-root-ca.crt\"},\"data\":{\"ca.crt\":\"%s\"}}";
        try {
            admin.create(
                    path + "/configmaps",
                    json.formatted(certificates.authorityPem().replace("\n", "\\n")));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void checkVersion() {
        String said = admin.getJson(url + "/version").path("gitVersion").asText();
        if (!binaries.isVersion(said)) {
            throw new IllegalStateException(
                    binaries.apiServer() + " was expected to have version " + version() + ", but has " + said);
        }
    }

    private String[] nodeGroups() {
        return has(ServerFeature.NODE_AUTHORIZER)
                ? new String[] {"system:nodes"}
                : new String[] {"system:nodes", ADMINS};
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }
}
