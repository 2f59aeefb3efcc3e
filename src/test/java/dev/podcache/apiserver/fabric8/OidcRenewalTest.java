package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.apiserver.credentials.Kubeconfig;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ConnectProxy;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A user with an identity provider ({@code auth-provider: oidc}) at a server that is both: API server and provider. Every
 * token has the canary in it.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class OidcRenewalTest {

    private static final String REFRESH = "refresh/" + NoLeaks.CANARY + "+1";
    private static final String SECRET = "secret:&" + NoLeaks.CANARY;
    private static final String BASIC =
            "Basic " + Base64.getEncoder().encodeToString(("my+client:secret%3A%26" + NoLeaks.CANARY).getBytes(UTF_8));

    @TempDir
    private Path folder;

    private final Queue<String> asked = new ConcurrentLinkedQueue<>();
    private final AtomicReference<String> accepted = new AtomicReference<>();
    private String expired;
    private String fresh;
    private HttpsServer server;
    private String url;
    private String authority;

    /** What the provider answers: to a client in the header, and to one in the form. */
    private volatile int[] codes = {200, 200};

    private volatile String body;

    @BeforeEach
    void start() throws GeneralSecurityException, IOException {
        TestCertificates certificates = new TestCertificates();
        authority =
                Base64.getEncoder().encodeToString(certificates.authorityPem().getBytes(UTF_8));
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(certificates.serverTls()));
        url = "https://127.0.0.1:" + server.getAddress().getPort();
        expired = token(-10);
        fresh = token(3600);
        accepted.set(fresh);
        body = "{\"id_token\": \"" + fresh + "\", \"refresh_token\": \"" + NoLeaks.CANARY + "-2\"}";
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static String token(int seconds) {
        String claims = "{\"sub\": \"jane\", \"exp\": "
                + Instant.now().plusSeconds(seconds).getEpochSecond() + "}";
        return "e30." + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(UTF_8)) + "."
                + NoLeaks.CANARY;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            String form = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            if (path.startsWith("/api/")) {
                boolean known = ("Bearer " + accepted.get()).equals(authorization);
                respond(
                        exchange,
                        known ? 200 : 401,
                        known
                                ? "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\","
                                        + "\"resourceVersion\":\"7\"}}"
                                : "{\"kind\":\"Status\",\"code\":401,\"reason\":\"Unauthorized\"}");
            } else if (path.equals("/idp/.well-known/openid-configuration")) {
                asked.add("discovery");
                respond(exchange, 200, "{\"token_endpoint\": \"" + url + "/token?policy=p\"}");
            } else {
                boolean inHeader = authorization != null;
                asked.add(exchange.getRequestMethod() + " " + path + " " + (inHeader ? authorization : "-") + " "
                        + URLDecoder.decode(form, UTF_8));
                int code = codes[inHeader ? 0 : 1];
                respond(exchange, code, code == 200 ? body : "{\"kind\":\"Status\",\"message\":\"" + form + "\"}");
            }
        }
    }

    private static void respond(HttpExchange exchange, int code, String json) throws IOException {
        byte[] bytes = json.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private Path kubeconfig(String more) throws IOException {
        return Files.writeString(
                folder.resolve("kubeconfig"), """
                # written by hand
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: '%1$s', certificate-authority-data: %2$s}}]
                users:
                - name: other
                  user: {auth-provider: {name: oidc, config: {id-token: %3$s}}}
                - name: u
                  user:
                    auth-provider:
                      name: oidc
                      config:
                        idp-issuer-url: %1$s/idp/
                        client-id: my client
                        client-secret: "%4$s"
                        id-token: %3$s  # é
                        refresh-token: '%5$s'
                        %6$s
                """.formatted(url, authority, expired, SECRET, REFRESH, more));
    }

    private Path kubeconfig() throws IOException {
        return kubeconfig("idp-certificate-authority-data: " + authority);
    }

    private static Config config(Path file, Map<String, String> environment) {
        return Kubeconfig.read(file, "--kubeconfig").config(environment);
    }

    /** Returns how a request ends: null if it was answered. */
    private static @Nullable Throwable get(Config config) throws InterruptedException {
        try (Fabric8ApiServer api = Fabric8ApiServer.of(config, RequestLimit.DEFAULT)) {
            return NoLeaks.saw(api.getter(ObjectKind.SECRET)
                    .get(ObjectKey.of("shop", "db"), ReadSource.QUORUM, Duration.ofSeconds(Patience.SECONDS))
                    .handle((secret, failure) -> failure)
                    .completeOnTimeout(new AssertionError("no answer"), Patience.SECONDS, TimeUnit.SECONDS)
                    .join());
        }
    }

    @Test
    void expired_isRenewed_andWrittenWhereItStands() throws Exception {
        Path file = kubeconfig();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        String before = Files.readString(file);

        assertThat(get(config(file, Map.of()))).isNull();

        assertThat(asked)
                .containsExactly(
                        "discovery",
                        "POST /token?policy=p " + BASIC + " grant_type=refresh_token&refresh_token=" + REFRESH);
        assertThat(Files.readString(file))
                .isEqualTo(before.replace("id-token: " + expired + "  # é", "id-token: \"" + fresh + "\"  # é")
                        .replace("'" + REFRESH + "'", "\"" + NoLeaks.CANARY + "-2\""));
        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
        assertThat(folder)
                .isDirectoryContaining(each -> each.equals(file))
                .isDirectoryNotContaining("glob:**{lock,new}");
    }

    @Test
    void validForLong_providerIsNotAsked() throws Exception {
        expired = fresh;

        assertThat(get(config(kubeconfig(), Map.of()))).isNull();

        assertThat(asked).isEmpty();
    }

    /** Its read would otherwise fail beside a token that still works. */
    @Test
    void validForHalfAMinute_providerRefuses_isUsed() throws Exception {
        expired = token(30);
        accepted.set(expired);
        codes = new int[] {400, 400};

        assertThat(get(config(kubeconfig(), Map.of()))).isNull();

        assertThat(asked).hasSize(3);
    }

    @Test
    void clientInTheHeader_isRefused_isNamedInTheForm() throws Exception {
        codes = new int[] {401, 200};

        assertThat(get(config(kubeconfig(), Map.of()))).isNull();

        assertThat(asked)
                .last()
                .isEqualTo("POST /token?policy=p - grant_type=refresh_token&refresh_token=" + REFRESH
                        + "&client_id=my client&client_secret=" + SECRET);
    }

    @Test
    void providerRefuses_failsByNameAndQuotesNothing() throws Exception {
        codes = new int[] {400, 400};
        Path file = kubeconfig();
        String before = Files.readString(file);

        assertThat(get(config(file, Map.of())))
                .hasRootCauseInstanceOf(CredentialsException.class)
                .rootCause()
                .hasMessage("kubeconfig " + file + " (from --kubeconfig): user \"u\": auth-provider: identity provider "
                        + url
                        + " refused to renew the token (400): log in again, and check client-id and client-secret");
        assertThat(Files.readString(file)).isEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[|did not answer with JSON",
                "[]|sent no ID token",
                "{}|sent no ID token",
                "{\"id_token\": \"canary-5f1c7be3a90d4\"}|has no id-token that is valid now",
            })
    void answerWithoutAToken_failsByName(String answer, String why) throws Exception {
        body = answer.isEmpty() ? "" : answer.replace("[", "[" + (answer.equals("[") ? NoLeaks.CANARY : ""));

        Throwable failure = get(config(kubeconfig(), Map.of()));

        if (answer.contains("id_token")) {
            // a token that is none is sent, and refused by the server
            assertThat(ApiServerException.reasonOf(failure)).isEqualTo(FailureReason.UNAUTHORIZED);
        } else {
            assertThat(failure).rootCause().hasMessageContaining(why);
        }
    }

    @Test
    void providerIsOverloaded_isAFailureThatMayPass() throws Exception {
        codes = new int[] {503, 503};

        Throwable failure = get(config(kubeconfig(), Map.of()));

        assertThat(ApiServerException.reasonOf(failure)).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("identity provider " + url + " answered 503");
    }

    @Test
    void providerIsOfAnotherAuthority_isRefused() throws Exception {
        Throwable failure = get(config(kubeconfig(""), Map.of()));

        assertThat(ApiServerException.reasonOf(failure)).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("check the CA");
        assertThat(asked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"idp-certificate-authority: nowhere", "idp-certificate-authority-data: YWJj"})
    void authorityThatCannotBeUsed_isNamed(String field) throws Exception {
        assertThat(get(config(kubeconfig(field), Map.of())))
                .rootCause()
                .isInstanceOf(CredentialsException.class)
                .hasMessageContaining("user \"u\": auth-provider: identity provider " + url);
    }

    /** The environment names the proxy, whatever the cluster has; the loopback address has none. */
    @Test
    void proxyOfTheEnvironment_isInFrontOfTheProvider() throws Exception {
        try (ConnectProxy proxy =
                ConnectProxy.askingForCredentialsTo(server.getAddress().getPort())) {
            Path file = kubeconfig();
            Files.writeString(
                    file,
                    Files.readString(file)
                            .replace("idp-issuer-url: https://127.0.0.1", "idp-issuer-url: https://provider.example"));
            String environment = proxy.url().replace("http://", "http://user:pass@");

            // the certificate is for another name, so that the request ends behind the proxy
            Throwable failure = get(config(file, Map.of("HTTPS_PROXY", environment)));

            assertThat(ApiServerException.reasonOf(failure)).isEqualTo(FailureReason.UNAVAILABLE);
            assertThat(proxy.tunnels())
                    .containsOnly("Basic " + Base64.getEncoder().encodeToString("user:pass".getBytes(UTF_8)));
        }
    }

    @Test
    void kubeconfigThatCannotBeWritten_tokensStayWithTheProcess(NoLeaks leaks) throws Exception {
        Path file = kubeconfig();
        Files.createFile(folder.resolve("kubeconfig.lock"));
        leaks.allowWarnings("the renewed tokens of user \"u\" could not be written to kubeconfig");
        try (Fabric8ApiServer api = Fabric8ApiServer.of(config(file, Map.of()), RequestLimit.DEFAULT)) {
            api.rereadCredentials().join();
            api.rereadCredentials().join();

            assertThat(api.getter(ObjectKind.SECRET)
                            .get(ObjectKey.of("shop", "db"), ReadSource.QUORUM, Duration.ofSeconds(Patience.SECONDS)))
                    .succeedsWithin(Duration.ofSeconds(Patience.SECONDS));
        }

        assertThat(asked).hasSize(2);
        assertThat(Files.readString(file)).contains(expired);
        assertThat(leaks.warnings()).hasSize(1);
    }

    /** The kubeconfig was read by fabric8. */
    @Test
    void configurationOfACaller_isRenewedInTheSameWay() throws Exception {
        Path file = kubeconfig();
        Config config = Config.fromKubeconfig(file.toFile());

        assertThat(get(config)).isNull();

        assertThat(asked).hasSize(2);
        assertThat(Files.readString(file)).contains("id-token: \"" + fresh + "\"  # é");
    }

    /** Whose token endpoint is not behind TLS, although its discovery is. */
    @Test
    void tokenEndpointWithoutTls_isRefused() throws Exception {
        server.createContext("/idp/", exchange -> {
            try (exchange) {
                respond(exchange, 200, "{\"token_endpoint\": \"http://127.0.0.1:1/" + NoLeaks.CANARY + "\"}");
            }
        });

        assertThat(get(config(kubeconfig(), Map.of())))
                .rootCause()
                .hasMessageContaining("names no token_endpoint that can be used");
        assertThat(List.copyOf(asked)).isEmpty();
    }
}
