package dev.podcache.embedded;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.EitherVertx;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real HTTP, by the JDK's client: nothing of it is ours. */
@ExtendWith(NoLeaks.class)
class EmbeddedApiServerTest {

    private static final String SECRETS = "/api/v1/namespaces/shop/secrets";

    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper, 100, Duration.ofMillis(100));
    private EmbeddedApiServer server;

    @BeforeEach
    void start() {
        server = EmbeddedApiServer.start(cluster);
    }

    @AfterEach
    void stop() {
        server.close();
        cluster.close();
        timekeeper.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    void get_megabyteOfMultiByteText_arrivesWhole(HttpClient.Version version) throws Exception {
        String text = "h\u00e9llo \u65e5\u672c\u8a9e \ud83d\ude80 ".repeat(40_000);
        cluster.create(configMap("big", text));

        JsonNode object = json(send(version, request("/api/v1/namespaces/shop/configmaps/big")));

        assertThat(object.path("data").path("key").asText()).isEqualTo(text);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    void create_megabyteSecret_isStored(HttpClient.Version version) throws Exception {
        String value = Base64.getEncoder().encodeToString(new byte[1 << 20]);

        HttpResponse<String> response =
                send(version, post(SECRETS, "{\"metadata\":{\"name\":\"big\"},\"data\":{\"k\":\"" + value + "\"}}"));

        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(cluster.get(Secret.class, "shop", "big").getData()).containsEntry("k", value);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    void watch_changes_arriveAsLines(HttpClient.Version version) throws Exception {
        try (BufferedReader lines = watch(version, SECRETS + "?watch=1&resourceVersion=" + cluster.resourceVersion())) {
            cluster.create(secret("db", "b25l"));
            cluster.delete(Resource.SECRETS, ObjectKey.of("shop", "db"), DeleteOptions.DEFAULT);

            assertThat(event(lines).path("type").asText()).isEqualTo("ADDED");
            JsonNode deleted = event(lines);
            assertThat(deleted.path("type").asText()).isEqualTo("DELETED");
            assertThat(deleted.at("/object/metadata/resourceVersion").asText()).isEqualTo(cluster.resourceVersion());
        }
    }

    @Test
    void watch_withBookmarks_tellsTheVersion() throws Exception {
        cluster.create(secret("db", "b25l"));
        String from = cluster.resourceVersion();
        try (BufferedReader lines = watch(
                HttpClient.Version.HTTP_1_1, SECRETS + "?watch=1&allowWatchBookmarks=true&resourceVersion=" + from)) {
            JsonNode bookmark = event(lines);

            assertThat(bookmark.path("type").asText()).isEqualTo("BOOKMARK");
            assertThat(bookmark.at("/object/metadata/resourceVersion").asText()).isEqualTo(from);
        }
    }

    @Test
    void watch_timeoutSeconds_endsInGoodOrder() throws Exception {
        HttpResponse<String> response = send(HttpClient.Version.HTTP_2, request(SECRETS + "?watch=1&timeoutSeconds=1"));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEmpty();
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void watch_forgottenVersion_isToldByAnErrorEvent() throws Exception {
        cluster.create(secret("db", "b25l"));
        cluster.forgetHistory();

        HttpResponse<String> response =
                send(HttpClient.Version.HTTP_1_1, request(SECRETS + "?watch=1&resourceVersion=1"));

        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode event = Json.MAPPER.readTree(response.body());
        assertThat(event.path("type").asText()).isEqualTo("ERROR");
        assertThat(event.at("/object/code").asInt()).isEqualTo(410);
        assertThat(event.at("/object/reason").asText()).isEqualTo("Expired");
    }

    /** A web site whose name leads to 127.0.0.1 sends that name. */
    @ParameterizedTest
    @EnumSource(
            value = io.vertx.core.http.HttpVersion.class,
            names = {"HTTP_1_0", "HTTP_1_1", "HTTP_2"})
    void request_forTheHostOfAnotherMachine_isRefused(io.vertx.core.http.HttpVersion version) throws Exception {
        cluster.create(secret("db", "b25l"));
        Vertx vertx = Vertx.vertx();
        try {
            io.vertx.core.http.HttpClient asked = EitherVertx.client(
                    vertx, new HttpClientOptions().setProtocolVersion(version).setHttp2ClearTextUpgrade(false));
            for (String host : List.of("evil.example", "localhost.evil.example", "127.0.0.2")) {
                String answer = ask(asked, host);
                assertThat(answer)
                        .as(host)
                        .startsWith("403 ")
                        .contains("Forbidden")
                        .doesNotContain("b25l");
            }
            for (String host : List.of("localhost", "LOCALHOST", "127.0.0.1", "[::1]")) {
                assertThat(ask(asked, host)).as(host).startsWith("200 ").contains("b25l");
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
    }

    private String ask(io.vertx.core.http.HttpClient client, String host) throws Exception {
        RequestOptions request = new RequestOptions().setHost(host).setPort(80).setURI(SECRETS + "/db");
        return client.request(EitherVertx.to(SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"), request))
                .compose(HttpClientRequest::send)
                .compose(response -> response.body().map(body -> response.statusCode() + " " + body))
                .toCompletionStage()
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
    }

    @Test
    void request_forALoopbackAddressWithADot_isRefused() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(60_000);
            // clients of Vert.x 5 send no dot at the end of a host
            socket.getOutputStream()
                    .write(("GET " + SECRETS + " HTTP/1.1\r\nHost: 127.0.0.1.\r\n\r\n").getBytes(UTF_8));

            BufferedReader answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));

            assertThat(answer.readLine()).isEqualTo("HTTP/1.1 403 Forbidden");
        }
    }

    @Test
    void watch_askedAsWebSocket_isAnsweredPlainly() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(60_000);
            String ask = "GET " + SECRETS
                    + "?watch=1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
            socket.getOutputStream().write(ask.getBytes(UTF_8));

            BufferedReader answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));

            assertThat(answer.readLine()).isEqualTo("HTTP/1.1 200 OK");
            assertThat(answer.readLine()).isEqualToIgnoringCase("content-length: 0");
        }
    }

    @Test
    void watch_clientGoesAway_isClosed() throws Exception {
        BufferedReader lines = watch(HttpClient.Version.HTTP_1_1, SECRETS + "?watch=1");
        assertThat(server.openWatches()).isEqualTo(1);

        lines.close();

        await().until(() -> server.openWatches() == 0);
        assertThat(cluster.openWatches()).isZero();
    }

    @Test
    void watch_eventThatIsDuplicated_comesTwice() throws Exception {
        server.faults().duplicateEvents(1, RequestPattern.any());
        try (RawApi.Events events = RawApi.of(server.url()).watch(SECRETS + "?watch=1")) {
            await().until(() -> server.openWatches() == 1);
            cluster.create(secret("db", "b25l"));
            JsonNode first = events.next();

            assertThat(events.next()).isEqualTo(first);
        }
    }

    @Test
    void watch_cutInTheMiddleOfAnEvent_breaksOff() throws Exception {
        server.faults().cutNextEvent(RequestPattern.any());
        CompletableFuture<HttpResponse<String>> answer = HttpClient.newHttpClient()
                .sendAsync(request(SECRETS + "?watch=1").build(), HttpResponse.BodyHandlers.ofString());
        await().until(() -> server.openWatches() == 1);

        cluster.create(secret("db", "b25l"));

        assertThat(answer)
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(IOException.class);
    }

    @Test
    void streams_moreThanAllowed_areRefusedToTheClient() throws Exception {
        try (EmbeddedApiServer narrow = EmbeddedApiServer.start(cluster, 0, 2)) {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest watch = HttpRequest.newBuilder(URI.create(narrow.url() + SECRETS + "?watch=1"))
                    .build();
            // the first one upgrades the connection, before which the client knows no limit
            InputStream first = client.send(watch, HttpResponse.BodyHandlers.ofInputStream())
                    .body();
            InputStream second = client.send(watch, HttpResponse.BodyHandlers.ofInputStream())
                    .body();

            assertThatThrownBy(() -> client.send(watch, HttpResponse.BodyHandlers.ofInputStream()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("too many concurrent streams");
            first.close();
            second.close();
        }
    }

    @Test
    void http2_byPriorKnowledge_carriesManyWatchesOnOneConnection() throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        try {
            io.vertx.core.http.HttpClient client = EitherVertx.client(
                    vertx,
                    new HttpClientOptions()
                            .setProtocolVersion(HttpVersion.HTTP_2)
                            .setHttp2ClearTextUpgrade(false),
                    new PoolOptions().setHttp2MaxSize(1));
            List<Future<Buffer>> firstLines = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                firstLines.add(client.request(HttpMethod.GET, server.port(), "127.0.0.1", SECRETS + "?watch=1")
                        .compose(HttpClientRequest::send)
                        .compose(response -> {
                            Promise<Buffer> line = Promise.promise();
                            response.handler(line::tryComplete);
                            return line.future();
                        }));
            }
            await().until(() -> server.openWatches() == 50);

            cluster.create(secret("db", "b25l"));

            for (Future<Buffer> line : firstLines) {
                assertThat(line.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS))
                        .hasToString(firstLines.get(0).result().toString());
            }
            assertThat(server.connections()).isEqualTo(1);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        GET    | /api/v1/namespaces/shop/secrets/no              |              | 404 | NotFound
        GET    | /api/v1/nothing                                 |              | 404 | NotFound
        GET    | /                                               |              | 404 | NotFound
        GET    | /api/v1/pods?fieldSelector=spec.hostname=x      |              | 400 | BadRequest
        GET    | /api/v1/pods?labelSelector=a+in+(b              |              | 400 | BadRequest
        GET    | /api/v1/pods?watch=1&timeoutSeconds=soon        |              | 400 | BadRequest
        GET    | /api/v1/pods?resourceVersion=999                |              | 504 | Timeout
        PUT    | /api/v1/namespaces/shop/secrets                 | {}           | 405 | MethodNotAllowed
        POST   | /api/v1/namespaces/shop/secrets                 | {"canary     | 400 | BadRequest
        POST   | /api/v1/namespaces/shop/secrets                 | ["canary"]   | 400 | BadRequest
        POST   | /api/v1/namespaces/shop/secrets                 | {}           | 422 | Invalid
        POST   | /api/v1/namespaces/shop/secrets?dryRun=All      | {}           | 400 | BadRequest
        POST   | /api/v1/namespaces/shop/secrets                 | {"metadata":{"name":"x"},"data":{"k":"canary!"}} | 400 | BadRequest
        POST   | /api/v1/namespaces/shop/secrets                 | {"metadata":{"name":"x"},"data":["canary"]} | 400 | BadRequest
        POST   | /api/v1/namespaces/shop/secrets                 | {"kind":"Pod","metadata":{"name":"x"}} | 400 | BadRequest
        PATCH  | /api/v1/namespaces/shop/secrets/x               | {}           | 415 | UnsupportedMediaType
        DELETE | /api/v1/namespaces/shop/secrets/x               |              | 404 | NotFound
        """)
    void errors_badRequests_areStatusesThatQuoteNoPayload(
            String method, String path, String body, int code, String reason) throws Exception {
        HttpRequest.BodyPublisher publisher =
                body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);

        HttpResponse<String> response = send(
                HttpClient.Version.HTTP_1_1,
                request(path).header("Content-Type", "application/json").method(method, publisher));

        assertThat(response.statusCode()).as(response.body()).isEqualTo(code);
        JsonNode status = json(response);
        assertThat(status.path("kind").asText()).isEqualTo("Status");
        assertThat(status.path("code").asInt()).isEqualTo(code);
        assertThat(status.path("reason").asText()).isEqualTo(reason);
        assertThat(status.path("message").asText()).isNotEmpty().doesNotContain("canary");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        /db |                             | {"dryRun":["All"]}
            |                             | {"dryRun":["All"]}
        /db |                             | {"dryRun":"All"}
        /db |                             | {"propagationPolicy":"Foreground"}
        /db |                             | {"propagationPolicy":"Orphan"}
            |                             | {"propagationPolicy":"Orphan"}
        /db |                             | {"orphanDependents":true}
        /db | ?propagationPolicy=Orphan   |
        /db | ?orphanDependents=true      | {}
        /db | ?dryRun=All                 | {}
        """)
    void delete_optionsThatAreNotSupported_deletesNothing(String name, String query, String options) throws Exception {
        cluster.create(secret("db", "b25l"));
        String path = SECRETS + (name == null ? "" : name) + (query == null ? "" : query);

        HttpResponse<String> refused = send(
                HttpClient.Version.HTTP_1_1,
                request(path)
                        .header("Content-Type", "application/json")
                        .method("DELETE", HttpRequest.BodyPublishers.ofString(options == null ? "" : options)));

        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
        assertThat(json(refused).path("reason").asText()).isEqualTo("BadRequest");
        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), "").items())
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"dryRun\":[],\"propagationPolicy\":\"Background\"}",
                "{\"dryRun\":null,\"propagationPolicy\":null}",
                "{\"orphanDependents\":false}"
            })
    void delete_optionsThatSayTheDefault_deletes(String options) throws Exception {
        cluster.create(secret("db", "b25l"));

        HttpResponse<String> response = send(
                HttpClient.Version.HTTP_1_1,
                request(SECRETS + "/db")
                        .header("Content-Type", "application/json")
                        .method("DELETE", HttpRequest.BodyPublishers.ofString(options)));

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), "").items())
                .isEmpty();
    }

    @Test
    void body_beyondTheLimit_isRefused() throws Exception {
        HttpResponse<String> response = send(HttpClient.Version.HTTP_1_1, post(SECRETS, "x".repeat((3 << 20) + 1)));

        assertThat(response.statusCode()).isEqualTo(413);
    }

    @Test
    void list_objects_sayTheirKindOnce() throws Exception {
        cluster.create(secret("a", "b25l"));
        cluster.create(secret("b", "b25l"));

        JsonNode list = json(send(HttpClient.Version.HTTP_2, request("/api/v1/secrets")));

        assertThat(list.path("kind").asText()).isEqualTo("SecretList");
        assertThat(list.at("/metadata/resourceVersion").asText()).isEqualTo(cluster.resourceVersion());
        assertThat(list.path("items"))
                .hasSize(2)
                .allSatisfy(item -> assertThat(item.has("kind")).isFalse());
    }

    @Test
    void faults_throttled_sayWhenToComeBack() throws Exception {
        cluster.create(secret("db", "b25l"));
        server.faults().failNext(1, StatusException.tooManyRequests(3), RequestPattern.any());

        HttpResponse<String> response = send(HttpClient.Version.HTTP_1_1, request(SECRETS + "/db"));

        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(response.headers().firstValue("Retry-After")).hasValue("3");
        assertThat(send(HttpClient.Version.HTTP_1_1, request(SECRETS + "/db")).statusCode())
                .isEqualTo(200);
    }

    @Test
    void faults_held_answerTheStateOfTheArrival() throws Exception {
        cluster.create(secret("db", "b25l"));
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.GET));
        CompletableFuture<HttpResponse<String>> answer = HttpClient.newHttpClient()
                .sendAsync(request(SECRETS + "/db").build(), HttpResponse.BodyHandlers.ofString());
        held.awaitArrived();
        cluster.update(secret("db", "dHdv"));

        held.release();

        assertThat(answer)
                .succeedsWithin(Duration.ofSeconds(60))
                .satisfies(response -> assertThat(response.body()).contains("b25l"));
    }

    @Test
    void faults_watchHeldUntilItsClientGaveUp_isNotOpened() throws Exception {
        // one connection, whose requests the server handles in the order in which they come
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest version = request("/version").build();
        client.send(version, HttpResponse.BodyHandlers.ofString());
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        CompletableFuture<HttpResponse<String>> watch =
                client.sendAsync(request(SECRETS + "?watch=true").build(), HttpResponse.BodyHandlers.ofString());
        held.awaitArrived();
        watch.cancel(true);
        client.send(version, HttpResponse.BodyHandlers.ofString());

        held.release();
        client.send(version, HttpResponse.BodyHandlers.ofString());

        assertThat(server.connections()).isEqualTo(1);
        assertThat(server.openWatches()).isZero();
        assertThat(cluster.openWatches()).isZero();
    }

    @Test
    void faults_refused_breakTheConnection() throws Exception {
        try (var outage = server.faults().refuse(RequestPattern.any().resource(Resource.SECRETS))) {
            assertThat(outage).isNotNull();
            assertThatThrownBy(() -> send(HttpClient.Version.HTTP_1_1, request(SECRETS)))
                    .isInstanceOf(IOException.class);
        }
        assertThat(send(HttpClient.Version.HTTP_1_1, request(SECRETS)).statusCode())
                .isEqualTo(200);
    }

    @Test
    void requests_anyOutcome_areCounted() throws Exception {
        send(HttpClient.Version.HTTP_1_1, request(SECRETS + "/no"));
        send(HttpClient.Version.HTTP_1_1, request(SECRETS));
        send(HttpClient.Version.HTTP_1_1, request("/version"));

        assertThat(server.requests().snapshot()).containsOnlyKeys("get secrets", "list secrets");
        assertThat(server.requests().total()).isEqualTo(2);
        assertThat(server.requests()).hasToString("{get secrets=1, list secrets=1}");
    }

    @Test
    void start_portInUse_saysWhichOne() {
        assertThatThrownBy(() -> EmbeddedApiServer.start(cluster, server.port(), 100))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("127.0.0.1:" + server.port());
    }

    @Test
    void close_withOpenWatches_leavesNoThread() throws Exception {
        BufferedReader lines = watch(HttpClient.Version.HTTP_1_1, SECRETS + "?watch=1");

        server.close();

        // a thread ends a moment after its last task, which is what closing waits for
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("vert.x-")
                        || thread.getName().startsWith("vertx-"))
                .isSubsetOf(threadsBefore));
        assertThat(cluster.openWatches()).isZero();
        lines.close();
    }

    private BufferedReader watch(HttpClient.Version version, String path) throws Exception {
        HttpResponse<InputStream> response = HttpClient.newBuilder()
                .version(version)
                .build()
                .send(request(path).build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.version()).isEqualTo(version);
        return new BufferedReader(new InputStreamReader(response.body(), UTF_8));
    }

    private static JsonNode event(BufferedReader lines) throws IOException {
        return Json.MAPPER.readTree(lines.readLine());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.url() + path)).timeout(Duration.ofSeconds(20));
    }

    private HttpRequest.Builder post(String path, String body) {
        return request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpResponse<String> send(HttpClient.Version version, HttpRequest.Builder request) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(version).build();
        if (version == HttpClient.Version.HTTP_2) {
            // the JDK's client sometimes misreads a large answer to the request that upgrades the connection
            client.send(request("/version").build(), HttpResponse.BodyHandlers.discarding());
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return Json.MAPPER.readTree(response.body());
    }

    private static ConfigMap configMap(String name, String value) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .addToData("key", value)
                .build();
    }

    private static Secret secret(String name, String value) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .addToData("key", value)
                .build();
    }
}
