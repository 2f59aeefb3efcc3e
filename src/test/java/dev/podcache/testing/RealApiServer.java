package dev.podcache.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;

/**
 * A real kube-apiserver on a real etcd, on loopback. Both keep their ports and data while they are stopped, killed and
 * started again, one by one. Thread-safe; starts no thread in this JVM.
 *
 * <p>{@link #shared()} is for tests that only use the API; whoever stops it, or needs flags, {@linkplain
 * #start starts} one of its own and closes it. There are no controllers: no default service account, no
 * garbage collection, no scheduler.
 *
 * <p>Every client that is handed out belongs to the caller, who closes it.
 */
public final class RealApiServer implements AutoCloseable {

    private static final String ADMIN = "admin";
    private static final String ADMINS = "system:masters";

    private final ServerBinaries binaries;
    private final Path folder;
    private final TestCertificates certificates;
    private final SSLContext adminTls;
    private final String url;
    private final String etcdUrl;
    private final ServerProcess etcd;
    private final ServerProcess apiServer;
    private final Thread atExit = new Thread(this::end, "real-apiserver-exit");

    private static final class Shared {
        static final RealApiServer SERVER = start();
    }

    /** The one of this JVM, which ends with it. */
    public static RealApiServer shared() {
        return Shared.SERVER;
    }

    /**
     * Starts one that belongs to the caller and waits until it is ready, some seconds.
     *
     * @param flags of kube-apiserver, such as {@code --http2-max-streams-per-connection=100}, in addition to, or
     *     instead of, those that it gets anyway
     * @throws IllegalStateException if there are no binaries or a program does not come up; says why
     */
    public static RealApiServer start(String... flags) {
        ServerBinaries binaries = ServerBinaries.find()
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
        adminTls = certificates.tlsAs(ADMIN, ADMINS);
        List<Integer> ports = FreePorts.find(3);
        url = "https://127.0.0.1:" + ports.get(0);
        etcdUrl = "http://127.0.0.1:" + ports.get(1);
        write("ca.crt", certificates.authorityPem());
        write("server.crt", certificates.serverPem());
        write("server.key", certificates.privateKeyPem());
        write("accounts.pub", certificates.publicKeyPem());
        etcd = new ServerProcess(
                "etcd",
                etcdCommand(etcdUrl, "http://127.0.0.1:" + ports.get(2)),
                folder,
                () -> isOk(etcdUrl + "/health"));
        apiServer = new ServerProcess(
                "kube-apiserver",
                apiServerCommand(ports.get(0), etcdUrl, flags),
                folder,
                // the server makes its namespaces a moment after it calls itself ready
                () -> isOk(url() + "/readyz") && isOk(url() + "/api/v1/namespaces/default"));
    }

    /** Where the API is, such as {@code https://127.0.0.1:23456}. */
    public String url() {
        return url;
    }

    /** TLS of the administrator, for an HTTP client of the caller's own. */
    public SSLContext tls() {
        return adminTls;
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

    /** What {@link #client()} is made of. */
    public Config config() {
        return configFor(ADMIN, ADMINS);
    }

    /** What {@link #clientFor} is made of. */
    public Config configFor(String user, String... groups) {
        try {
            return new ConfigBuilder(Config.empty())
                    .withMasterUrl(url)
                    // of requests that tests make themselves; ours have timeouts of their own
                    .withRequestTimeout(
                            (int) Duration.ofSeconds(Patience.SECONDS).toMillis())
                    .withCaCertData(base64(certificates.authorityPem()))
                    .withClientCertData(base64(certificates.userPem(user, groups)))
                    .withClientKeyData(base64(certificates.privateKeyPem()))
                    .withClientKeyAlgo("RSA")
                    .withRequestRetryBackoffLimit(0)
                    .build();
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
        try {
            String text = """
                    apiVersion: v1
                    kind: Config
                    current-context: test
                    contexts: [{name: test, context: {cluster: test, user: test}}]
                    clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: "%s"}}]
                    users: [{name: test, user: {client-certificate-data: "%s", client-key-data: "%s"}}]
                    """.formatted(
                            url,
                            base64(certificates.authorityPem()),
                            base64(certificates.userPem(user, groups)),
                            base64(certificates.privateKeyPem()));
            return Files.writeString(Files.createTempFile(folder, "kubeconfig", ".yaml"), text);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
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

    /** What the API server has counted so far. */
    public ServerMetrics metrics() {
        try {
            return new ServerMetrics(read(url + "/metrics"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has etcd forget, at once, what was before {@code resourceVersion}, as it forgets what is some minutes old. */
    public void compact(String resourceVersion) {
        askEtcd("/v3/kv/compaction", "{\"revision\":\"" + resourceVersion + "\"}");
    }

    /** The same of everything but the present. Not twice of one present. */
    public void compact() {
        compact(askEtcd("/v3/maintenance/status", "{}").at("/header/revision").asText());
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

    private List<String> etcdCommand(String clientUrl, String peerUrl) {
        return List.of(
                binaries.etcd().toString(),
                "--data-dir=" + folder.resolve("etcd"),
                "--listen-client-urls=" + clientUrl,
                "--advertise-client-urls=" + clientUrl,
                "--listen-peer-urls=" + peerUrl);
    }

    private List<String> apiServerCommand(int port, String etcdUrl, String... flags) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("--etcd-servers", etcdUrl);
        all.put("--bind-address", "127.0.0.1");
        all.put("--secure-port", Integer.toString(port));
        all.put("--tls-cert-file", folder.resolve("server.crt").toString());
        all.put("--tls-private-key-file", folder.resolve("server.key").toString());
        all.put("--client-ca-file", folder.resolve("ca.crt").toString());
        all.put("--service-account-issuer", "https://podcache.test");
        all.put("--service-account-key-file", folder.resolve("accounts.pub").toString());
        all.put(
                "--service-account-signing-key-file",
                folder.resolve("server.key").toString());
        all.put("--service-cluster-ip-range", "10.0.0.0/24");
        all.put("--endpoint-reconciler-type", "none");
        all.put("--authorization-mode", "Node,RBAC");
        all.put("--enable-admission-plugins", "NodeRestriction");
        // no controller makes the default service account that this plugin insists on
        all.put("--disable-admission-plugins", "ServiceAccount");
        for (String flag : flags) {
            String[] parts = flag.split("=", 2);
            all.put(parts[0], parts.length == 2 ? parts[1] : "true");
        }
        List<String> command = new ArrayList<>();
        command.add(binaries.apiServer().toString());
        all.forEach((name, value) -> command.add(name + "=" + value));
        return command;
    }

    private boolean isOk(String address) {
        try {
            read(address);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    private JsonNode askEtcd(String path, String json) {
        try {
            HttpURLConnection connection = open(etcdUrl + path);
            connection.setDoOutput(true);
            connection.getOutputStream().write(json.getBytes(StandardCharsets.US_ASCII));
            return new ObjectMapper().readTree(read(connection));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String read(String address) throws IOException {
        return read(open(address));
    }

    private static String read(HttpURLConnection connection) throws IOException {
        try (InputStream body = connection.getInputStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            // a server that is not ready says so with a body that nobody reads: its socket would stay open until it is
            // collected
            connection.disconnect();
        }
    }

    private HttpURLConnection open(String address) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(address).toURL().openConnection();
        connection.setConnectTimeout(2_000);
        connection.setReadTimeout(10_000);
        connection.setRequestProperty("Connection", "close");
        if (connection instanceof HttpsURLConnection secure) {
            secure.setSSLSocketFactory(adminTls.getSocketFactory());
        }
        return connection;
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
