package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists and watches against answers of every sort. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class Fabric8ListerWatcherTest extends Fabric8WatchFixture {

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
        assertThat(listed.items().get(0).encodedBytes()).isEqualTo(one.getBytes(UTF_8).length);
        assertThat(listed.items().get(1).encodedBytes()).isEqualTo(two.length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "null"})
    void list_nothing_isEmpty(String items) {
        network.answer("200 OK", list(items));

        assertThat(configMaps("").list(Duration.ofSeconds(10)).join().items()).isEmpty();
    }

    /** An API server stores custom resources of 10,000 levels, and does not limit the names of their fields. */
    @ParameterizedTest
    @ValueSource(ints = {9_990, 0})
    void list_customResourceBeyondWhatJacksonExpects_isReadBesideTheOthers(int levels) {
        String name = "n".repeat(60_000);
        String deep = "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"deep\",\"resourceVersion\":\"4\"},\"spec\":"
                + (levels == 0 ? "{\"" + name + "\":1}" : "{\"a\":".repeat(levels) + "1" + "}".repeat(levels)) + "}";
        String honest = "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"honest\",\"resourceVersion\":\"3\"}}";
        network.answer(
                "200 OK",
                "{\"kind\":\"WebsiteList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[%s,%s]}"
                        .formatted(deep, honest));
        ObjectKind<GenericKubernetesResource> website = ObjectKind.of("example.dev/v1", "Website", "websites", true);
        ListerWatcher<GenericKubernetesResource> websites = server.listerWatcher(website, "shop", "");

        Listed<GenericKubernetesResource> listed =
                websites.list(Duration.ofSeconds(10)).join();

        assertThat(listed.items())
                .extracting(item -> item.object().getMetadata().getName())
                .containsExactly("deep", "honest");
        GenericKubernetesResource read = listed.items().get(0).object();
        assertThat(read.getKind()).isEqualTo("Website");
        assertThat(read.getApiVersion()).isEqualTo("example.dev/v1");
        Map<?, ?> spec = read.get("spec");
        assertThat(spec.keySet()).hasToString(levels == 0 ? "[" + name + "]" : "[a]");
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

    @ParameterizedTest
    @CsvSource({
        "metadata.name=db, secrets in shop with metadata.name=db, fieldSelector=metadata.name%3Ddb&",
        "'', secrets in shop, limit=500&resourceVersion=0",
        "type!=a, secrets in shop with type!=a, fieldSelector=type%21%3Da&limit=500&resourceVersion=0"
    })
    void list_selection_isInTheQueryAndInMessages(String selector, String text, String query) {
        ListerWatcher<Secret> selected = server.listerWatcher(ObjectKind.SECRET, "shop", selector);
        network.answer("403 Forbidden", "");

        Throwable thrown =
                catchThrowable(() -> selected.list(Duration.ofSeconds(10)).join());

        assertThat(selected).hasToString(text);
        assertThat(thrown).hasMessageContaining("LIST " + text + " was answered 403");
        assertThat(network.requests)
                .singleElement()
                .asString()
                .startsWith("GET /api/v1/namespaces/shop/secrets?" + query + " HTTP");
    }

    @Test
    void list_ofAllNamespaces_isOfTheKind() {
        ListerWatcher<Pod> selected = server.listerWatcher(ObjectKind.POD, "", "spec.nodeName!=");
        network.answer("403 Forbidden", "");

        Throwable thrown =
                catchThrowable(() -> selected.list(Duration.ofSeconds(10)).join());

        assertThat(thrown).hasMessageContaining("LIST pods with spec.nodeName!= was answered 403");
        assertThat(selected).hasToString("pods with spec.nodeName!=");
        assertThat(network.requests.get(0))
                .startsWith("GET /api/v1/pods?fieldSelector=spec.nodeName%21%3D&limit=500&resourceVersion=0 HTTP");
    }

    @Test
    void byName_isTheSameSelectionAsByItsField() throws InterruptedException {
        ListerWatcher<ConfigMap> one = server.byName(ObjectKind.CONFIG_MAP).apply(ObjectKey.of("shop", "db"));
        network.answer("410 Gone", "");

        one.watch("47", Duration.ofMinutes(30), events::add);
        ApiServerException watch = ended(next());
        one.streamList(Duration.ofMinutes(30), events::add);
        next();

        assertThat(one).hasToString("configmaps in shop with metadata.name=db");
        assertThat(watch).hasMessageStartingWith("WATCH configmaps in shop with metadata.name=db was answered 410");
        String path = "GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Ddb&watch=true"
                + "&allowWatchBookmarks=true";
        assertThat(network.requests.get(0)).startsWith(path + "&resourceVersion=47&timeoutSeconds=1800 HTTP");
        assertThat(network.requests.get(1))
                .startsWith(
                        path + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1800 HTTP");
    }

    /** Decodes on the event loop, so that an answer has been dealt with when a later one comes. */
    private static final class NoWorkers extends ForwardingTimekeeper {

        NoWorkers() {
            super(Timekeeper.system());
        }

        @Override
        public Executor workers() {
            return Runnable::run;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 36+, true", "1, 31+, false", "x, y, false", "'', '', false"})
    void version_inAnyForm_decidesWhetherListsAreStreamed(String major, String minor, boolean streams) {
        ScriptedServer.Script version =
                ScriptedServer.answering("200 OK", "{\"major\":\"%s\",\"minor\":\"%s\"}".formatted(major, minor));
        AtomicInteger answered = new AtomicInteger();
        network.onRequest(connection -> {
            version.answer(connection);
            answered.incrementAndGet();
        });
        server.close();
        server = new Fabric8ApiServer(client, RequestLimit.DEFAULT, new NoWorkers());
        ListerWatcher<ConfigMap> one = configMaps("metadata.name=a");
        assertThat(one.streamsLists()).isFalse();
        await().until(() -> answered.get() == 1);
        one.list(Duration.ofSeconds(10)).handle((listed, failure) -> failure).join();

        assertThat(one.streamsLists()).isEqualTo(streams);
        assertThat(network.requests.get(0)).startsWith("GET /version HTTP");
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
        // a token provider may start a process or a request, so it is called again only after seconds or a refusal
        assertThat(network.requests.get(1)).containsIgnoringCase("Authorization: Bearer token-1");
    }

    @Test
    void watch_tokenRefused_isRenewedAndTheWatchTriedOnceMore(@TempDir Path folder) throws Exception {
        Path kubeconfig = Files.writeString(folder.resolve("config"), kubeconfig("old"));
        connect(new ConfigBuilder(Config.fromKubeconfig(kubeconfig.toFile())));
        network.answer("401 Unauthorized", "");
        Files.writeString(kubeconfig, kubeconfig("new"));
        watch();
        ended(next());

        assertThat(network.requests).hasSize(2);
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

    private static String list(String items) {
        return "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"extra\":{\"resourceVersion\":\"no\"},"
                + "\"resourceVersion\":\"9\"},\"items\":" + items + "}";
    }
}
