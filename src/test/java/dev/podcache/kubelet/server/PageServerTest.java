package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The payloads of all objects are the canary. */
@ExtendWith(NoLeaks.class)
class PageServerTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final FakeView view = new FakeView();
    private PageServer server;

    @BeforeEach
    void start(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("failed; retrying");
        view.cache.put(Secrets.of("shop", "db", NoLeaks.CANARY));
        view.cache.put(new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("settings")
                .endMetadata()
                .addToData("key", NoLeaks.CANARY)
                .build());
        view.cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db", "missing")));
        view.cache.secrets().getObject("shop", "db");
        view.cache.fail(ObjectKind.SECRET, "shop", "missing", FailureReason.FORBIDDEN);
        assertThatThrownBy(() -> view.cache.secrets().getObject("shop", "missing"))
                .isNotNull();
        server = PageServer.start(view, 0);
    }

    @AfterEach
    void close() {
        server.close();
        view.cache.close();
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url()).resolve(path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        NoLeaks.saw(response.body());
        NoLeaks.saw(response.headers().map());
        return response;
    }

    private JsonNode state(String query) throws Exception {
        HttpResponse<String> response = send("GET", "/ui/state" + query);
        assertThat(response.statusCode()).isEqualTo(200);
        return JSON.readTree(response.body());
    }

    @Test
    void page_isOneDocumentWhosePolicyAllowsNothingFromOutside() throws Exception {
        HttpResponse<String> response = send("GET", "/ui");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
        assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        String policy = response.headers().firstValue("Content-Security-Policy").orElseThrow();
        assertThat(policy)
                .contains("default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "frame-ancestors 'none'")
                .doesNotContain("unsafe", "*", "http");
        assertThat(response.body())
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=")
                .doesNotContainPattern("(?:src|href)=\"(?!data:|ui/state)");
    }

    @Test
    void state_hasStatesHoldersAndFailuresButNoContents() throws Exception {
        JsonNode state = state("");

        assertThat(state.path("node").asText()).isEqualTo("worker-1");
        assertThat(state.path("uptimeSeconds").asDouble()).isEqualTo(5400);
        assertThat(state.path("heartbeats").path("sinceRenewalSeconds").asDouble())
                .isEqualTo(3);
        assertThat(state.path("conditions").get(0).path("type").asText()).isEqualTo("Ready");
        assertThat(state.path("cache")
                        .path("objects")
                        .path("Secret")
                        .path("FRESH")
                        .asInt())
                .isEqualTo(1);
        assertThat(state.path("entriesTotal").asInt()).isEqualTo(2);
        JsonNode failed = state.path("entries").get(1);
        assertThat(failed.path("name").asText()).isEqualTo("missing");
        assertThat(failed.path("lastFailure").asText()).isNotEmpty();
        assertThat(failed.path("holders").get(0).path("name").asText()).isEqualTo("web");
    }

    /** Names that YAML reads as a number or a boolean are legal. */
    @ParameterizedTest
    @ValueSource(strings = {"123", "true", "1e3"})
    void state_refusedObject_missingRuleHasItsNameAsText(String name) throws Exception {
        view.cache.registerPod(Pods.withSecrets("shop", "other", "uid-other", List.of(name)));
        view.cache.fail(ObjectKind.SECRET, "shop", name, FailureReason.FORBIDDEN);
        assertThatThrownBy(() -> view.cache.secrets().getObject("shop", name)).isNotNull();

        JsonNode refused = state("?q=shop/" + name).path("entries").get(0);

        assertThat(refused.path("missingRule").asText()).contains("resourceNames: [\"" + name + "\"], verbs");
    }

    @ParameterizedTest
    @CsvSource({
        "?q=DB, db",
        "?q=shop/miss, missing",
        "?q=web&state=FRESH, db",
        "?kind=Secret&q=missing, missing",
        "?limit=1, missing" // what needs attention comes first
    })
    void state_filter_hasWhatMatches(String query, String name) throws Exception {
        JsonNode state = state(query);

        assertThat(state.path("entries")).hasSize(1);
        assertThat(state.path("entries").get(0).path("name").asText()).isEqualTo(name);
        assertThat(state.path("entriesTotal").asInt()).isEqualTo(2);
        assertThat(state.path("entriesMatching").asInt()).isEqualTo(query.contains("limit") ? 2 : 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "10001", "many", ""})
    void state_impossibleLimit_isRefusedByName(String limit) throws Exception {
        HttpResponse<String> response = send("GET", "/ui/state?limit=" + limit);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("0 to 10000", "\"" + limit + "\"");
    }

    @Test
    void state_podWaits_saysForWhat() throws Exception {
        view.pods.add(new PodBuilder(Pods.assigned("worker-1", "web").build())
                .withNewStatus()
                .withPhase("Pending")
                .addNewContainerStatus()
                .withReady(false)
                .withNewState()
                .withNewWaiting("secret \"late\" not found", "CreateContainerConfigError")
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());

        JsonNode pod = state("").path("pods").get(0);

        assertThat(pod.path("phase").asText()).isEqualTo("Pending");
        assertThat(pod.path("waitsFor").asText()).isEqualTo("CreateContainerConfigError: secret \"late\" not found");
        assertThat(pod.path("ready").asInt()).isZero();
    }

    @Test
    void state_nodeAndPodWithoutStatus_isShown() throws Exception {
        view.node = Optional.empty();
        view.pods.add(Pods.assigned("worker-1", "web").build());

        JsonNode state = state("");

        assertThat(state.path("known").asBoolean()).isFalse();
        assertThat(state.path("conditions")).isEmpty();
        assertThat(state.path("pods").get(0).path("phase").asText()).isEmpty();
    }

    @Test
    void head_isAnswered() throws Exception {
        HttpResponse<String> response = send("HEAD", "/ui");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"})
    void otherMethods_areRefused(String method) throws Exception {
        HttpResponse<String> response = send(method, "/ui/state");

        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void otherPaths_areNotFoundAndTheRootLeadsToThePage() throws Exception {
        assertThat(send("GET", "/pods").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/ui/../pods").statusCode()).isEqualTo(404);
        HttpResponse<String> root = send("GET", "/");
        assertThat(root.statusCode()).isEqualTo(302);
        assertThat(root.headers().firstValue("Location")).contains("/ui");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "[::1]:8080"})
    void hostOfThisMachine_isAnswered(String host) throws Exception {
        assertThat(statusLine("Host: " + host)).contains(" 200 ");
    }

    /** A web site whose name was made to resolve to 127.0.0.1 must not read the page. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host: evil.example",
                "Host: localhost.evil.example",
                "Host: 127.0.0.1.evil.example:8080",
                "Host: 127.0.0.2",
                "Host: localhost:80:80",
                "Host: ",
                "X: y"
            })
    void otherHost_isRefused(String header) throws Exception {
        assertThat(statusLine(header)).containsAnyOf(" 403 ", " 400 ");
    }

    private String statusLine(String header) throws IOException {
        URI url = URI.create(server.url());
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream()
                    .write(("GET /ui/state HTTP/1.1\r\n" + header + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            byte[] begin = socket.getInputStream().readNBytes(15);
            return new String(begin, StandardCharsets.US_ASCII);
        }
    }

    @Test
    void start_portInUse_saysWhatToDo() {
        int port = URI.create(server.url()).getPort();

        assertThatThrownBy(() -> PageServer.start(view, port))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("127.0.0.1:" + port)
                .hasMessageContaining("choose another port");
    }

    @Test
    void start_impossiblePort_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PageServer.start(view, 65536))
                .withMessageContaining("65536");
    }

    @Test
    void state_viewThrows_is500AndTheServerLivesOn(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; answered 500");
        view.broken = true;

        assertThat(send("GET", "/ui/state").statusCode()).isEqualTo(500);

        view.broken = false;
        assertThat(send("GET", "/ui/state").statusCode()).isEqualTo(200);
    }
}
