package dev.podcache.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
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
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/**
 * Kubeconfigs with a secret in each place where one may stand, by right or by mistake, and plugins that print one in every
 * way. No command shows it: not on its output, and not in what any library logs.
 */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class KubeconfigHygieneTest extends ConsoleFixture {

    private static final String CANARY = NoLeaks.CANARY;
    private static final String BASE64 = Base64.getEncoder().encodeToString(CANARY.getBytes(UTF_8));

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
                byte[] body = "{\"kind\":\"Status\",\"code\":401,\"reason\":\"Unauthorized\"}".getBytes(UTF_8);
                exchange.getResponseHeaders().add("Content-Type", "application/json");
                exchange.sendResponseHeaders(401, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        url = "https://127.0.0.1:" + server.getAddress().getPort();
        before = root().getLevel();
        root().setLevel(Level.TRACE);
    }

    @AfterEach
    void tearDown() {
        root().setLevel(before);
        server.stop(0);
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
}
