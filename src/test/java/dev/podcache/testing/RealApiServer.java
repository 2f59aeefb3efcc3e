package dev.podcache.testing;

import io.fabric8.kubernetes.client.Config;
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
 * A real kube-apiserver on a real etcd, on loopback. Both keep their ports and data while they are stopped, killed and
 * started again, one by one. Thread-safe; starts no thread in this JVM.
 *
 * <p>{@link #shared()} is for tests that only use the API, {@link #restartable()} for those that stop it; a test that
 * needs flags {@linkplain #start starts} one of its own and closes it. There are no controllers, so no garbage collection and no scheduler. What
 * they put into each namespace for ordinary pods is in {@code default}, and in what {@link #createNamespace} creates.
 *
 * <p>Every client that is handed out belongs to the caller, who closes it.
 */
public final class RealApiServer implements AutoCloseable {

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

    private static final class Shared {
        static final RealApiServer SERVER = start();
    }

    private static final class Restartable {
        static final RealApiServer SERVER = start();
    }

    /** The one of this JVM, which ends with it. */
    public static RealApiServer shared() {
        return Shared.SERVER;
    }

    /** Another of this JVM, which a test may stop, kill and start again; it runs when it is handed out. */
    public static RealApiServer restartable() {
        RealApiServer server = Restartable.SERVER;
        server.etcd.start();
        server.apiServer.start();
        return server;
    }

    /**
     * Starts one that belongs to the caller and waits until it is ready, some seconds.
     *
     * @param flags of kube-apiserver, such as {@code --http2-max-streams-per-connection=100}, in addition to, or
     *     instead of, those that it gets anyway
     * @throws IllegalStateException if there are no binaries or a program does not come up; says why
     */
    public static RealApiServer start(String... flags) {
        ServerBinaries binaries = ServerBinaries.found()
                .orElseThrow(() -> new IllegalStateException(
                        "no kube-apiserver under " + ServerBinaries.folder() + "; mark the test with @RealServerTest"));
        RealApiServer server;
        try {
            server = new RealApiServer(binaries, flags);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("a real API server could not be prepared", e);
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
                // the server makes its namespaces a moment after it calls itself ready
                () -> admin.isOk(url() + "/readyz") && admin.isOk(url() + "/api/v1/namespaces/default"));
    }

    /** The version of the server that this machine has; empty if it has none. */
    public static Optional<ServerVersion> versionFound() {
        return ServerBinaries.found().map(ServerBinaries::version);
    }

    public ServerVersion version() {
        return binaries.version();
    }

    /** Whether it is a kube-apiserver, or a server on its library that has this nevertheless. */
    public boolean has(ServerFeature feature) {
        return !binaries.absent().contains(feature);
    }

    /** Where the API is, such as {@code https://127.0.0.1:23456}. */
    public String url() {
        return url;
    }

    /** TLS of the administrator, for an HTTP client of the caller's own. */
    public SSLContext tls() {
        return admin.tls();
    }

    public ServerProcess apiServer() {
        return apiServer;
    }

    public ServerProcess etcd() {
        return etcd;
    }

    /** A client that may do everything, without retries of its own. */
    public KubernetesClient client() {
        return clientFor(ADMIN, ADMINS);
    }

    /**
     * A client of somebody else, known by a client certificate; nothing is granted to it.
     *
     * @param user such as {@code system:node:worker-1}
     * @param groups such as {@code system:nodes}
     */
    public KubernetesClient clientFor(String user, String... groups) {
        return new KubernetesClientBuilder().withConfig(configFor(user, groups)).build();
    }

    /**
     * How the kubelet of a node reaches it; with the rights of an administrator where no Node authorizer grants it any.
     */
    public Config nodeConfig(String node) {
        return configFor("system:node:" + node, nodeGroups());
    }

    /** {@link #nodeConfig} as a kubeconfig file, which lives as long as this server. */
    public Path nodeKubeconfig(String node) {
        return kubeconfigFor("system:node:" + node, nodeGroups());
    }

    /** What {@link #client()} is made of. */
    public Config config() {
        return configFor(ADMIN, ADMINS);
    }

    /** What {@link #clientFor} is made of. */
    public Config configFor(String user, String... groups) {
        return users.config(user, groups);
    }

    /**
     * Writes a certificate of the administrator that the server takes until {@code end}; its key is that of {@link
     * #config()}.
     */
    public void writeCertificate(Path file, Instant end) {
        try {
            Files.writeString(file, certificates.userPemUntil(end, ADMIN, ADMINS));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A kubeconfig file of the administrator, which lives as long as this server. */
    public Path kubeconfig() {
        return kubeconfigFor(ADMIN, ADMINS);
    }

    /** A kubeconfig file of {@link #clientFor the same somebody}. */
    public Path kubeconfigFor(String user, String... groups) {
        return users.kubeconfig(user, groups);
    }

    /**
     * Runs kubectl as the administrator.
     *
     * @return what it printed
     * @throws IllegalStateException if it ends with another code than 0; carries what it complained of
     */
    public String kubectl(String... arguments) {
        return new Kubectl(binaries.kubectl(), kubeconfig(), folder).run(arguments);
    }

    /**
     * Creates a namespace with what pods mount although they do not ask for it: their service account, which is {@code
     * default}, and the root certificate.
     */
    public void createNamespace(String name) {
        admin.create(url + "/api/v1/namespaces", "{\"metadata\":{\"name\":\"" + name + "\"}}");
        addWhatPodsMount(name);
    }

    /** Creates one that no other test has. */
    public String createNamespaceLike(String prefix) {
        String name = prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
        createNamespace(name);
        return name;
    }

    /** What the API server has counted so far. */
    public ServerMetrics metrics() {
        return new ServerMetrics(admin.get(url + "/metrics"), version());
    }

    /** Has etcd forget, at once, what was before {@code resourceVersion}, as it forgets what is some minutes old. */
    public void compact(String resourceVersion) {
        admin.post(etcdUrl + "/v3/kv/compaction", "{\"revision\":\"" + resourceVersion + "\"}");
    }

    /** The same of everything but the present. Not twice of one present. */
    public void compact() {
        compact(admin.post(etcdUrl + "/v3/maintenance/status", "{}")
                .at("/header/revision")
                .asText());
    }

    /** Kills both programs and deletes their data. Idempotent. */
    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // the hook runs or has run: it does the same
        }
    }

    private void end() {
        apiServer.kill();
        etcd.kill();
        try (Stream<Path> files = Files.exists(folder) ? Files.walk(folder) : Stream.empty()) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the controllers of a cluster do. */
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
                    binaries.apiServer() + " was taken for " + version() + ", but says that it is " + said);
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
