package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists and watches against answers of every sort. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class Fabric8ListerWatcherTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final ScriptedServer network = new ScriptedServer();
    private final BlockingQueue<WatchEvent<ConfigMap>> events = new LinkedBlockingQueue<>();
    private KubernetesClient client;
    private Fabric8ApiServer server;

    @BeforeEach
    void setUp() {
        connect(config(network.url()));
    }

    @AfterEach
    void tearDown() {
        server.close();
        client.close();
        network.close();
    }

    @Test
    void list_items_areDecodedEachWithItsOwnSize() {
        String one = "{\"metadata\":{\"name\":\"one\",\"resourceVersion\":\"3\"},\"data\":{\"a\":\"日本語\"}}";
        String two = "{\"metadata\":{\"name\":\"two\",\"resourceVersion\":\"4\"}}";
        network.answer("200 OK", list("[" + one + " ,\n " + two + "]"));

        Listed<ConfigMap> listed = configMaps("").list(Duration.ofSeconds(10)).join();

        assertThat(listed.resourceVersion()).isEqualTo("9");
        assertThat(listed.items())
                .extracting(item -> item.object().getMetadata().getName())
                .containsExactly("one", "two");
        assertThat(listed.items().get(0).object().getData()).containsEntry("a", "日本語");
        assertThat(listed.items().get(0).encodedBytes())
                .isEqualTo(Buffer.buffer(one).length());
        assertThat(listed.items().get(1).encodedBytes()).isEqualTo(two.length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "null"})
    void list_nothing_isEmpty(String items) {
        network.answer("200 OK", list(items));

        assertThat(configMaps("").list(Duration.ofSeconds(10)).join().items()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "<html>canary</html>",
                "{\"kind\":\"SecretList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
                "{\"kind\":\"ConfigMapList\",\"metadata\":{},\"items\":[]}",
                "{\"kind\":\"ConfigMapList\",\"metadata\":null,\"items\":[]}",
                "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[\"canary\"]}",
                "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"data\":{\"a\":\"canary\"}}]}",
                "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"data\":\"canary"
            })
    void list_answerThatIsNoList_isUnreadableAndQuotesNothing(String body) {
        network.answer("200 OK", body);

        Throwable thrown =
                catchThrowable(() -> configMaps("").list(Duration.ofSeconds(10)).join());

        assertThat(thrown).hasCauseInstanceOf(ApiServerException.class);
        ApiServerException failure = (ApiServerException) thrown.getCause();
        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure.getMessage()).doesNotContain("canary");
    }

    @Test
    void list_limitExhausted_isSentAllTheSame() {
        network.answer("200 OK", list("[]"));
        server.close();
        server = Fabric8ApiServer.of(client, new RequestLimit(0.001, 1));

        configMaps("").list(Duration.ofSeconds(10)).join();
        configMaps("").list(Duration.ofSeconds(10)).join();

        assertThat(network.requests).hasSize(2);
    }

    @Test
    void listAndWatch_selection_isInTheQuery() throws InterruptedException {
        network.answer("200 OK", list("[]"));
        configMaps("metadata.name=a b").list(Duration.ofSeconds(10)).join();
        configMaps("metadata.name=a b").watch("12", HOUR, events::add);
        next();

        assertThat(network.requests.get(0))
                .startsWith("GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Da+b& HTTP");
        assertThat(network.requests.get(1))
                .startsWith("GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Da+b&watch=true"
                        + "&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=3600 HTTP");
    }

    @Test
    void watch_credentials_areThoseOfTheClient() throws InterruptedException {
        AtomicInteger tokens = new AtomicInteger();
        connect(config(network.url())
                .withImpersonateUsername("jane")
                .withUserAgent("tests/1")
                .withOauthTokenProvider(() -> "token-" + tokens.incrementAndGet()));
        network.stream("", 1);
        watch();
        next();
        next();
        watch();
        next();

        assertThat(network.requests.get(0))
                .containsIgnoringCase("Authorization: Bearer token-1")
                .containsIgnoringCase("Impersonate-User: jane")
                .containsIgnoringCase("User-Agent: tests/1");
        assertThat(network.requests.get(1)).containsIgnoringCase("Authorization: Bearer token-2");
    }

    @Test
    void watch_tokenRefused_isRenewedForTheNextWatch(@TempDir Path folder) throws Exception {
        Path kubeconfig = Files.writeString(folder.resolve("config"), kubeconfig("old"));
        connect(new ConfigBuilder(Config.fromKubeconfig(kubeconfig.toFile())));
        network.answer("401 Unauthorized", "");
        Files.writeString(kubeconfig, kubeconfig("new"));
        watch();
        ended(next());
        watch();
        ended(next());

        assertThat(network.requests.get(0)).containsIgnoringCase("Authorization: Bearer old");
        assertThat(network.requests.get(1)).containsIgnoringCase("Authorization: Bearer new");
    }

    private String kubeconfig(String token) {
        return """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: test}}]
                clusters: [{name: test, cluster: {server: "%s"}}]
                users: [{name: test, user: {token: "%s"}}]
                """.formatted(network.url(), token);
    }

    @Test
    void watch_proxyConfigured_goesThroughIt() throws InterruptedException {
        connect(config("http://api.invalid:8080").withHttpProxy(network.url()));
        network.stream("", 1);
        watch();
        next();

        assertThat(network.requests.get(0))
                .startsWith("GET http://api.invalid:8080/api/v1/namespaces/shop/configmaps?");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 100_000})
    void watch_nonAsciiTextInChunksOfAnySize_arrivesUnharmed(int size) throws InterruptedException {
        network.stream(event("ADDED", "héllo 日本語 🎉") + event("MODIFIED", "ünd weiter 🎉"), size);
        watch();

        assertThat(next()).isEqualTo(new WatchEvent.Opened<>());
        assertThat(text(next())).isEqualTo("héllo 日本語 🎉");
        assertThat(text(next())).isEqualTo("ünd weiter 🎉");
        assertThat(next()).isEqualTo(new WatchEvent.Ended<>(null));
    }

    @Test
    void watch_eventOfMegabytes_arrives() throws InterruptedException {
        String large = "é".repeat(2_000_000);
        network.stream(event("ADDED", large), 10_000);
        watch();
        next();

        assertThat(text(next())).isEqualTo(large);
    }

    @Test
    void watch_eventBeyondTheCap_endsWithACause() throws InterruptedException {
        network.stream("x".repeat(17 << 20), 1 << 20);
        watch();
        next();

        assertThat(ended(next()).getMessage()).contains("longer than 16777216 bytes");
    }

    @Test
    void watch_refused_endsWithTheStatusAndRetryAfter() throws InterruptedException {
        network.answer("429 Too Many Requests\r\nRetry-After: 3", "{\"kind\":\"Status\",\"message\":\"busy\"}");
        watch();

        ApiServerException failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.THROTTLED);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(failure).hasMessage("WATCH configmaps in shop was answered 429: busy");
    }

    @Test
    void watch_410AsACode_isExpired() throws InterruptedException {
        network.answer("410 Gone", "");
        watch();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.EXPIRED);
    }

    @Test
    void watch_401_isUnauthorized() throws InterruptedException {
        network.answer("401 Unauthorized", "{\"kind\":\"Status\",\"message\":\"who?\"}");
        watch();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.UNAUTHORIZED);
    }

    @Test
    void watch_410AsAnEvent_isExpiredAndClosesTheConnection() throws InterruptedException {
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            ScriptedServer.chunk(
                    socket, Buffer.buffer("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n"));
        });
        watch();
        next();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.EXPIRED);
        await().until(() -> network.openConnections.get() == 0);
    }

    @Test
    void watch_brokenEvent_endsAndTellsNothingMore() throws InterruptedException {
        network.stream(event("ADDED", "1") + "{\"canary\n" + event("ADDED", "2"), 5);
        watch();
        next();
        assertThat(text(next())).isEqualTo("1");

        ApiServerException failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure.getMessage()).doesNotContain("canary");
        assertThat(events.poll(200, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void watch_answerEndingInsideAnEvent_endsWithACause() throws InterruptedException {
        network.stream("{\"type\":\"ADDED\",\"obj", 1000);
        watch();
        next();

        assertThat(ended(next()).getMessage()).endsWith("the answer ended inside an event");
    }

    @Test
    void watch_connectionCut_isUnavailable() throws InterruptedException {
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            network.vertx.setTimer(50, later -> socket.close());
        });
        watch();
        next();

        assertThat(ended(next()).reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @Test
    void watch_nobodyListening_isUnavailableAndNamesTheServer() throws InterruptedException {
        String url = network.url();
        network.close();
        watch();

        assertThat(ended(next()).getMessage()).startsWith("WATCH configmaps in shop: no connection to " + url);
    }

    @Test
    void watch_unknownHost_isUnavailable() throws InterruptedException {
        connect(config("http://nowhere.invalid:8080"));
        watch();

        assertThat(ended(next()).getMessage()).contains("the host of http://nowhere.invalid:8080 has no address");
    }

    @Test
    void watch_brokenTlsMaterial_endsWithACause() throws InterruptedException {
        ApiServerException failure;
        connect(config(network.url().replace("http:", "https:")).withTrustCerts(true));
        client.getConfiguration().setCaCertFile("/nowhere/ca.crt");
        client.getConfiguration().setTrustCerts(false);
        watch();
        failure = ended(next());

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @Test
    void closeOfTheHandle_openWatch_closesTheConnectionAndTellsNothingMore() throws InterruptedException {
        network.onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            network.vertx.setPeriodic(5, tick -> ScriptedServer.chunk(socket, Buffer.buffer(event("ADDED", "x"))));
        });
        WatchHandle handle = watch();
        next();
        next();

        handle.close();
        handle.close();
        await().until(() -> network.openConnections.get() == 0);
        events.clear();

        assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void closeOfTheHandle_beforeAnAnswer_tellsNothing() throws InterruptedException {
        WatchHandle handle = watch();
        await().until(() -> network.requests.size() == 1);

        handle.close();

        await().until(() -> network.openConnections.get() == 0);
        assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void closeOfTheServer_openWatch_endsItAndItsThreads() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        network.onRequest(socket -> socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
        watch();
        next();

        server.close();

        assertThat(ended(next()).getMessage()).endsWith("has been closed");
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("vert.x")
                        || thread.getName().startsWith("podcache"))
                .isSubsetOf(before));
    }

    @Test
    void watch_ofAClosedServer_endsAtOnce() throws InterruptedException {
        server.close();
        watch();

        assertThat(ended(next()).getMessage()).endsWith("has been closed");
    }

    @Test
    @ExpectedWarnings("a consumer of events failed")
    void consumerThatThrows_doesNotEndTheWatch() throws InterruptedException {
        network.stream(event("ADDED", "1") + event("ADDED", "2"), 1000);
        configMaps("").watch("1", HOUR, event -> {
            events.add(event);
            throw new IllegalStateException("broken consumer");
        });

        next();
        assertThat(text(next())).isEqualTo("1");
        assertThat(text(next())).isEqualTo("2");
        assertThat(next()).isEqualTo(new WatchEvent.Ended<>(null));
    }

    private WatchHandle watch() {
        return configMaps("").watch("1", HOUR, events::add);
    }

    private ListerWatcher<ConfigMap> configMaps(String fieldSelector) {
        return server.listerWatcher(ObjectKind.CONFIG_MAP, "shop", fieldSelector);
    }

    private WatchEvent<ConfigMap> next() throws InterruptedException {
        WatchEvent<ConfigMap> event = events.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    private static String text(WatchEvent<ConfigMap> event) {
        assertThat(event).isInstanceOf(WatchEvent.Upserted.class);
        return ((WatchEvent.Upserted<ConfigMap>) event)
                .fetched()
                .object()
                .getData()
                .get("text");
    }

    private static ApiServerException ended(WatchEvent<ConfigMap> event) {
        assertThat(event).isInstanceOf(WatchEvent.Ended.class);
        ApiServerException failure = ((WatchEvent.Ended<ConfigMap>) event).failure();
        assertThat(failure).isNotNull();
        return failure;
    }

    private void connect(ConfigBuilder config) {
        if (server != null) {
            server.close();
            client.close();
        }
        client = new KubernetesClientBuilder().withConfig(config.build()).build();
        server = Fabric8ApiServer.of(client);
    }

    private static ConfigBuilder config(String url) {
        return new ConfigBuilder(Config.empty()).withMasterUrl(url);
    }

    private static String event(String type, String text) {
        return "{\"type\":\"" + type + "\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                + "\"namespace\":\"shop\",\"resourceVersion\":\"5\"},\"data\":{\"text\":\"" + text + "\"}}}\n";
    }

    private static String list(String items) {
        return "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"extra\":{\"resourceVersion\":\"no\"},"
                + "\"resourceVersion\":\"9\"},\"items\":" + items + "}";
    }
}
