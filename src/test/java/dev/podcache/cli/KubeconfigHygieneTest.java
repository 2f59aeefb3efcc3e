package dev.podcache.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.google.common.base.Splitter;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import dev.podcache.testing.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/**
 * Kubeconfigs with a secret in each place where one may stand, by right or by mistake; plugins that print one in every way;
 * servers that answer with one in every place but the message of a Status, which is there to be shown. No command shows it:
 * not on its output, and not in what any library logs.
 */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class KubeconfigHygieneTest extends ConsoleFixture {

    private static final String CANARY = NoLeaks.CANARY;
    private static final String BASE64 = Base64.getEncoder().encodeToString(CANARY.getBytes(UTF_8));

    private static final String REFUSAL = "{\"kind\":\"Status\",\"code\":401,\"reason\":\"Unauthorized\"}";

    private volatile Answerer answers = (method, path) -> new ServedAnswer(401, "application/json", REFUSAL);
    private final ExecutorService handlers = Executors.newCachedThreadPool();
    private HttpsServer server;
    private String url;
    private String authority;
    private Level before;

    @BeforeEach
    void setUp() throws GeneralSecurityException, IOException {
        TestCertificates certificates = new TestCertificates();
        authority =
                Base64.getEncoder().encodeToString(certificates.authorityPem().getBytes(UTF_8));
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(certificates.serverTls()));
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.getRequestBody().readAllBytes();
                ServedAnswer answer = answers.to(
                        exchange.getRequestMethod(), exchange.getRequestURI().toString());
                byte[] body = answer.body.getBytes(UTF_8);
                exchange.getResponseHeaders().add("Content-Type", answer.type);
                answer.headers.forEach(exchange.getResponseHeaders()::add);
                exchange.sendResponseHeaders(answer.code, body.length == 0 ? -1 : body.length);
                exchange.getResponseBody().write(body);
            }
        });
        // one thread would wait for the first request of each new connection
        server.setExecutor(handlers);
        server.start();
        url = "https://127.0.0.1:" + server.getAddress().getPort();
        before = root().getLevel();
        root().setLevel(Level.TRACE);
    }

    @AfterEach
    void tearDown() {
        root().setLevel(before);
        server.stop(0);
        handlers.shutdownNow();
    }

    /** What a server answers. */
    private record ServedAnswer(int code, String type, String body, Map<String, String> headers) {

        ServedAnswer(int code, String type, String body) {
            this(code, type, body, Map.of());
        }

        @Override
        public String toString() {
            return code + " " + type + " " + body + " " + headers;
        }
    }

    private interface Answerer {
        ServedAnswer to(String method, String path);
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    private static String plugin(String script) {
        return exec("sh", "args: [-c, " + quoted(script) + "]");
    }

    private static String exec(String command, String more) {
        return "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: " + command + ", "
                + more + "}";
    }

    private static String printed(String status) {
        return plugin(
                "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"
                        + status + "}'");
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    /** What stands under {@code user}. */
    static Stream<String> users() {
        return Stream.of(
                "token: " + CANARY,
                "token: " + quoted(CANARY + "\n"),
                "token: " + quoted(CANARY + "\n" + CANARY),
                "token: " + quoted(CANARY) + ", username: u, password: p",
                "token: \"" + CANARY + "\\u0001\"",
                "token: \"\\u00e9" + CANARY + "\\u2603\"",
                "token: [" + CANARY + "]",
                "token: {" + CANARY + ": " + CANARY + "}",
                "tokenFile: token-file",
                "tokenFile: token-lines",
                "username: " + CANARY + ", password: " + CANARY,
                "username: " + quoted(CANARY + "\n") + ", password: " + quoted(CANARY + "\n"),
                "client-certificate-data: " + CANARY + ", client-key-data: " + CANARY,
                "client-certificate-data: " + BASE64 + ", client-key-data: " + BASE64,
                "client-certificate: token-file, client-key: token-file",
                "client-key: token-file",
                "as: somebody, as-groups: [" + quoted(CANARY + "\u0007") + "], token: " + CANARY,
                "as: somebody, as-user-extra: {scopes: [" + quoted(CANARY + "\n") + "]}",
                "as-uid: " + CANARY,
                "auth-provider: {name: gcp, config: {access-token: " + CANARY + "}}",
                "auth-provider: {name: oidc, config: [" + CANARY + "]}",
                plugin("echo " + CANARY + "; echo " + CANARY + " >&2; exit 1"),
                plugin("echo " + CANARY + "; echo " + CANARY + " >&2"),
                plugin("echo '{\"token\": \"" + CANARY + "'"),
                plugin("echo '{\"apiVersion\":\"" + CANARY + "\",\"kind\":\"ExecCredential\"}'"),
                plugin("echo '{\"kind\":\"" + CANARY + "\"}'"),
                printed("\"" + CANARY + "\""),
                printed("{\"token\":\"" + CANARY + "\"}"),
                printed("{\"token\":\"" + CANARY + "\\n\"}"),
                printed("{\"token\":[\"" + CANARY + "\"]}"),
                printed("{\"clientCertificateData\":\"" + CANARY + "\"}"),
                printed("{\"clientCertificateData\":\"" + CANARY + "\",\"clientKeyData\":\"" + CANARY + "\"}"),
                printed("{\"token\":\"" + CANARY + "\",\"expirationTimestamp\":\"" + CANARY + "\"}"),
                exec("no-such-command", "args: [" + CANARY + "], env: [{name: A, value: " + CANARY + "}]"),
                exec("false", "args: [" + CANARY + "], env: [{name: A, value: " + CANARY + "}]"),
                exec("true", "env: [{name: " + quoted("=" + CANARY) + ", value: " + quoted(CANARY + "\u0000") + "}]"),
                "exec: {apiVersion: " + CANARY + ", command: sh}",
                "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: " + CANARY + ", command: sh}",
                "exec: [" + CANARY + "]");
    }

    /** What stands under {@code cluster}; %s is for the address of the server. */
    static Stream<String> clusters() {
        return Stream.of(
                "server: https://u:" + CANARY + "@%1$s",
                "server: " + quoted(CANARY + "://x y"),
                "server: [" + CANARY + "]",
                "server: https://%1$s, proxy-url: http://u:" + CANARY + "@127.0.0.1:1",
                "server: https://%1$s, proxy-url: ftp://u:" + CANARY + "@127.0.0.1:1",
                "server: https://%1$s, proxy-url: " + quoted("http://u:" + CANARY + "@a b:1"),
                "server: https://%1$s, proxy-url: " + CANARY,
                "server: https://%1$s, certificate-authority-data: " + CANARY,
                "server: https://%1$s, certificate-authority-data: " + BASE64,
                "server: https://%1$s, certificate-authority: token-file",
                "server: https://%1$s, insecure-skip-tls-verify: " + CANARY);
    }

    /** Whole files. */
    static Stream<String> files() {
        return Stream.of(
                CANARY,
                "[" + CANARY + "]",
                CANARY + ": [",
                "users: " + CANARY,
                "users: [" + CANARY + "]",
                "users: [{name: a, user: " + CANARY + "}]",
                "users: [{name: a, user: {token: *" + CANARY + "}}]",
                "users: [{name: a, user: {token: \"" + CANARY + "}}]",
                "users: [{name: a, user: {token: \"\\q" + CANARY + "\"}}]",
                "kind: " + CANARY,
                "{\"users\": [{\"user\": {\"token\": \"" + CANARY + "\"}}");
    }

    private Path written(String content) throws IOException {
        Files.writeString(home.resolve("token-file"), CANARY + "\n");
        Files.writeString(home.resolve("token-lines"), CANARY + "\n" + CANARY + "\n");
        return Files.writeString(home.resolve("kubeconfig"), content);
    }

    private String ofUser(String user) {
        return of("server: " + url + ", certificate-authority-data: " + authority, user);
    }

    private static String of(String cluster, String user) {
        return """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: test}}]
                clusters: [{name: test, cluster: {%s}}]
                users: [{name: test, user: {%s}}]
                """.formatted(cluster, user);
    }

    private void requireNothingShown(NoLeaks leaks, String content, String... commands) throws IOException {
        leaks.allowWarnings("credential");
        Path kubeconfig = written(content);
        for (String command : commands) {
            int code = console.execute((command + " --kubeconfig " + kubeconfig).split(" "));

            assertThat(console.out().size() + console.err().size())
                    .as("lines of " + command + ", which ended with " + code)
                    .isPositive();
            console.out().forEach(NoLeaks::saw);
            console.err().forEach(NoLeaks::saw);
        }
    }

    @ParameterizedTest
    @MethodSource("users")
    void secretUnderAUser_isNotShown(String user, NoLeaks leaks) throws IOException {
        requireNothingShown(leaks, ofUser(user), "doctor -v", "dump --node n");
    }

    @ParameterizedTest
    @MethodSource("clusters")
    void secretUnderACluster_isNotShown(String cluster, NoLeaks leaks) throws IOException {
        String content = of(cluster.formatted(url.substring("https://".length())), "token: " + CANARY);

        requireNothingShown(leaks, content, "doctor -v", "dump --node n");
    }

    @ParameterizedTest
    @MethodSource("files")
    void secretInAFileThatIsNoKubeconfig_isNotShown(String content, NoLeaks leaks) throws IOException {
        requireNothingShown(leaks, content, "doctor -v", "dump --node n");
    }

    static List<String> commands() throws IOException {
        return List.of(
                "run -v --node n --for 1s --healthz-port 0 --port "
                        + FreePorts.find(1).get(0),
                "observe -v --node n --for 1s",
                "hollow -v --for 1s",
                "controllers -v --for 1s",
                "rbac -v --secrets shop/db",
                "doctor",
                "dump -v --node n");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommand_showsNothing(String command, NoLeaks leaks) throws IOException {
        for (String user : List.of(
                "token: " + CANARY,
                "token: " + quoted(CANARY + "\n"),
                plugin("echo " + CANARY + "; echo " + CANARY + " >&2; exit 1"),
                printed("{\"token\":\"" + CANARY + "\\n\"}"))) {
            requireNothingShown(leaks, ofUser(user), command);
        }
    }

    private static ServedAnswer json(int code, String body) {
        return new ServedAnswer(code, "application/json", body);
    }

    /** A Status whose message is harmless. */
    private static ServedAnswer status(int code, String more) {
        return json(
                code,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":" + code
                        + ",\"message\":\"no\"," + more + "}");
    }

    private static String secret(String data) {
        return "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\","
                + "\"resourceVersion\":\"7\"},\"data\":" + data + "}";
    }

    static Stream<ServedAnswer> hostileAnswers() {
        String data = "{\"k\":\"" + BASE64 + "\"}";
        Stream<ServedAnswer> failures = Stream.of(400, 401, 403, 404, 409, 410, 422, 429, 500, 503)
                .flatMap(code -> Stream.of(
                        status(
                                code,
                                "\"reason\":\"" + CANARY + "\",\"details\":{\"name\":\"" + CANARY + "\",\"causes\":"
                                        + "[{\"reason\":\"" + CANARY + "\",\"message\":\"" + CANARY + "\",\"field\":\""
                                        + CANARY + "\"}]},\"data\":" + data),
                        new ServedAnswer(code, "text/plain", CANARY),
                        json(code, secret(data))));
        Stream<ServedAnswer> headers = Stream.of(
                        "Warning: 299 - \"" + CANARY + "\"",
                        "Retry-After: " + CANARY,
                        "WWW-Authenticate: Bearer " + CANARY,
                        "Set-Cookie: a=" + CANARY,
                        "Audit-Id: " + CANARY,
                        "Date: " + CANARY,
                        "Content-Encoding: " + CANARY,
                        "Content-Encoding: gzip",
                        "Location: https://" + CANARY + "/",
                        CANARY + ": " + CANARY)
                .flatMap(header -> Stream.of(200, 302, 429, 500).map(code -> {
                    List<String> parts = Splitter.on(": ").splitToList(header);
                    return new ServedAnswer(code, "application/json", secret(data), Map.of(parts.get(0), parts.get(1)));
                }));
        Stream<ServedAnswer> bodies = Stream.of(
                        "",
                        CANARY,
                        "\"" + CANARY + "\"",
                        "{" + CANARY,
                        "{\"kind\":\"" + CANARY + "\"}",
                        "{\"kind\":\"Status\",\"code\":\"" + CANARY + "\"}",
                        secret(data),
                        secret("\"" + CANARY + "\""),
                        secret("{\"k\":[\"" + CANARY + "\"]}"),
                        secret("{\"k\":\"" + CANARY + "\u0000\"}"),
                        secret(data).substring(0, secret(data).length() - 4),
                        "{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" + CANARY
                                + "\"},\"items\":[" + secret(data) + "]}",
                        "{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\""
                                + CANARY + "\"},\"items\":[" + secret(data) + "]}",
                        "{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"data\":\""
                                + CANARY + "\"}]}",
                        "{\"type\":\"ADDED\",\"object\":" + secret(data) + "}\n{\"type\":\"" + CANARY + "\",\"object\":"
                                + secret(data) + "}\n",
                        "{\"type\":\"ADDED\",\"object\":" + secret("\"" + CANARY + "\"") + "}\n" + CANARY + "\n",
                        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"" + CANARY
                                + "\",\"message\":\"no\"}}\n",
                        "{\"major\":\"" + CANARY + "\",\"minor\":\"" + CANARY + "\",\"gitVersion\":[\"" + CANARY
                                + "\"]}",
                        "{\"status\":{\"allowed\":\"" + CANARY + "\",\"reason\":\"" + CANARY + "\",\"token\":\""
                                + CANARY + "\"}}")
                .flatMap(body -> Stream.of(json(200, body), new ServedAnswer(200, CANARY, body)));
        return Stream.of(failures, headers, bodies).flatMap(each -> each);
    }

    /** Empty lists of what comes before Secrets, with one pod that refers to one, so that a command goes on to the rest. */
    private static @Nullable ServedAnswer harmless(String method, String path) {
        Matcher list = Pattern.compile(
                        "/api(?:s/[a-z.0-9]+)?/v1/(?:namespaces/[a-z-]+/)?(nodes|pods|services|leases)(?:\\?.*)?")
                .matcher(path);
        if (!method.equals("GET") || !list.matches() || path.contains("watch=")) {
            return null;
        }
        String kind = Map.of("nodes", "Node", "pods", "Pod", "services", "Service", "leases", "Lease")
                .get(list.group(1));
        String version = kind.equals("Lease") ? "coordination.k8s.io/v1" : "v1";
        String pod = "{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u\",\"resourceVersion\":\"5\"},"
                + "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"a\",\"image\":\"a\",\"envFrom\":[{\"secretRef\":"
                + "{\"name\":\"db\"}}]}]}}";
        return json(
                200,
                "{\"kind\":\"" + kind + "List\",\"apiVersion\":\"" + version
                        + "\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" + (kind.equals("Pod") ? pod : "")
                        + "]}");
    }

    /** Every command meets every answer: each request gets the next one. */
    @ParameterizedTest
    @MethodSource("commands")
    void everyCommand_serverAnswersWithSecrets_showsNothing(String command, NoLeaks leaks) throws IOException {
        List<ServedAnswer> all = hostileAnswers().toList();
        AtomicInteger next = new AtomicInteger();
        answers = (method, path) -> {
            ServedAnswer good = harmless(method, path);
            return good == null ? all.get(next.getAndIncrement() % all.size()) : good;
        };
        leaks.allowWarnings("e");

        requireNothingShown(leaks, ofUser("token: " + CANARY), command.replace("1s", "6s"));
    }

    @ParameterizedTest
    @MethodSource("hostileAnswers")
    void answerWithSecrets_isNotShown(ServedAnswer answer, NoLeaks leaks) throws IOException {
        answers = (method, path) -> answer;

        requireNothingShown(leaks, ofUser("token: " + CANARY), "doctor -v --secrets shop/db", "dump -v --node n");
    }
}
