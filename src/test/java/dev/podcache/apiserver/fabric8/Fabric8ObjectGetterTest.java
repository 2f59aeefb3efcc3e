package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.Retries;
import dev.podcache.apiserver.fabric8.ScriptedServer.ScriptedConnection;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GETs against answers of every sort. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class Fabric8ObjectGetterTest {

    private static final Duration BETWEEN_BYTES = Duration.ofMillis(20);
    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final String SECRET =
            "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\","
                    + "\"resourceVersion\":\"7\",\"managedFields\":[{\"manager\":\"kubectl\"}]},\"data\":{\"password\":\"Y2FuYXJ5\"}}";

    private final ScriptedServer network = new ScriptedServer();
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
    void get_object_isDecodedWithItsSizeAndWithoutManagedFields() {
        network.answer("200 OK", SECRET);

        Fetched<Secret> fetched = get(ReadSource.QUORUM).join();

        assertThat(fetched.object().getData()).containsEntry("password", "Y2FuYXJ5");
        assertThat(fetched.object().getMetadata().getManagedFields()).isEmpty();
        assertThat(fetched.resourceVersion()).isEqualTo("7");
        assertThat(fetched.encodedBytes()).isEqualTo(SECRET.length());
    }

    @Test
    void get_freshness_decidesTheResourceVersion() {
        network.answer("200 OK", SECRET);
        get(ReadSource.QUORUM).join();
        get(ReadSource.CACHE).join();

        assertThat(network.requests.get(0)).startsWith("GET /api/v1/namespaces/shop/secrets/db HTTP/1.1\r\n");
        assertThat(network.requests.get(1))
                .startsWith("GET /api/v1/namespaces/shop/secrets/db?resourceVersion=0 HTTP/1.1\r\n");
    }

    @Test
    void get_serverUrlWithAPath_keepsThePath() {
        connect(config(network.url() + "/k8s/clusters/c-1"));
        network.answer("200 OK", SECRET);
        get(ReadSource.QUORUM).join();

        assertThat(network.requests.get(0)).startsWith("GET /k8s/clusters/c-1/api/v1/namespaces/shop/secrets/db HTTP");
    }

    @Test
    void get_tokenAndImpersonation_areSent() {
        connect(config(network.url()).withOauthToken("t0ken").withImpersonateUsername("jane"));
        network.answer("200 OK", SECRET);
        get(ReadSource.QUORUM).join();

        assertThat(network.requests.get(0))
                .containsIgnoringCase("Authorization: Bearer t0ken")
                .containsIgnoringCase("Impersonate-User: jane");
    }

    @Test
    void get_answer_isDecodedOnAWorker() throws IOException {
        CompletableFuture<String> thread = new CompletableFuture<>();
        CompletableFuture<ScriptedConnection> arrived = new CompletableFuture<>();
        network.onRequest(connection -> {
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: " + SECRET.length() + "\r\n\r\n");
            arrived.complete(connection);
        });
        get(ReadSource.QUORUM)
                .whenComplete((value, failure) ->
                        thread.complete(Thread.currentThread().getName()));
        arrived.join().write(SECRET);

        assertThat(thread.join()).startsWith("podcache-worker");
    }

    @ParameterizedTest
    @CsvSource({
        "401, UNAUTHORIZED",
        "403, FORBIDDEN",
        "404, NOT_FOUND",
        "410, EXPIRED",
        "422, REJECTED",
        "429, THROTTLED",
        "500, UNAVAILABLE",
        "503, UNAVAILABLE"
    })
    void get_status_isToldByCodeAndQuotesTheMessage(int code, FailureReason reason) {
        network.answer(code + " No", status("no such luck", ""));

        ApiServerException failure = failure();

        assertThat(failure.reason()).isEqualTo(reason);
        assertThat(failure.httpCode()).isEqualTo(code);
        assertThat(failure).hasMessage("GET Secret shop/db was answered " + code + ": no such luck");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 503})
    void get_failure_isOneRequest(int code) {
        network.answer(code + " No\r\nRetry-After: 1", "");
        failure();

        assertThat(network.requests).hasSize(1);
    }

    @Test
    void get_longStatusMessage_isCut() {
        network.answer("403 Forbidden", status("x".repeat(5000), ""));

        assertThat(failure().getMessage()).hasSizeLessThan(400);
    }

    @Test
    void get_errorPageOfAProxy_isNotQuoted() {
        network.answer("502 Bad Gateway\r\nContent-Type: text/html", "<html>canary</html>");

        ApiServerException failure = failure();

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure.getMessage()).contains("502").doesNotContain("canary");
    }

    @Test
    void get_404WithoutAStatus_isNotTakenForAbsence() {
        network.answer("404 Not Found", "404 page not found");

        assertThat(failure().reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @ParameterizedTest
    @CsvSource({"2, 2", "0, 0", "' 7 ', 7", "9999999999, 31536000", "99999999999999999999, 31536000"})
    void get_retryAfterInSeconds_isRead(String header, long seconds) {
        network.answer("429 Too Many Requests\r\nRetry-After: " + header, "");

        assertThat(failure().retryAfter()).isEqualTo(Duration.ofSeconds(seconds));
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "-1", "1.5", ""})
    void get_retryAfterOfNoKnownForm_isIgnored(String header) {
        network.answer("429 Too Many Requests\r\nRetry-After: " + header, "");

        assertThat(failure().retryAfter()).isNull();
    }

    @Test
    void get_retryAfterAsADate_isTheTimeUntilThen() {
        ZonedDateTime until = ZonedDateTime.now(ZoneOffset.UTC).plusSeconds(60);
        network.answer("503 Unavailable\r\nRetry-After: " + DateTimeFormatter.RFC_1123_DATE_TIME.format(until), "");

        assertThat(failure().retryAfter()).isBetween(Duration.ofSeconds(40), Duration.ofSeconds(60));
    }

    @Test
    void get_retryAfterInHeaderAndStatus_isTheLonger() {
        network.answer(
                "429 Too Many Requests\r\nRetry-After: 1",
                status("busy", ",\"details\":{\"retryAfterSeconds\":5,\"causes\":\"nonsense\"}"));

        assertThat(failure().retryAfter()).isEqualTo(Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "\"canary\"",
                "<html>canary</html>",
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\"},\"data\":{\"password\":\"canary",
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\"},\"data\":\"canary\"}",
                "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\"},\"data\":{\"a\":\"canary\"}}",
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"other\",\"namespace\":\"shop\"},\"data\":{\"a\":\"canary\"}}",
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\",\"namespace\":\"canary\"}}",
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"},\"data\":{\"a\":\"canary\"}}",
                "{\"kind\":\"Secret\",\"metadata\":null,\"data\":{\"a\":\"canary\"}}",
                "{\"kind\":\"Secret\",\"data\":{\"a\":\"canary\"}}",
                "{\"kind\":null,\"metadata\":{\"name\":\"db\",\"namespace\":\"shop\"}}",
                "{}"
            })
    void get_answerThatIsNotTheObject_isUnreadableAndQuotesNothing(String body) {
        network.answer("200 OK", body);

        ApiServerException failure = failure();

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure).hasNoCause();
        assertThat(failure.getMessage())
                .startsWith("reading a Secret: the answer (" + body.length() + " bytes)")
                .doesNotContain("canary");
    }

    @Test
    void get_noAnswer_failsInTime() {
        ApiServerException failure = failure(get(ReadSource.QUORUM, Duration.ofMillis(300)));

        assertThat(failure.reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure.getMessage()).startsWith("GET Secret shop/db: no answer from " + network.url());
    }

    @Test
    void get_answerThatTricklesForEver_failsInTime() {
        network.onRequest(connection -> {
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{");
            while (true) {
                LockSupport.parkNanos(BETWEEN_BYTES.toNanos());
                connection.write(" ");
            }
        });

        assertThat(failure(get(ReadSource.QUORUM, Duration.ofMillis(300))).reason())
                .isEqualTo(FailureReason.TIMEOUT);
    }

    @Test
    void get_connectionCutInsideTheAnswer_isUnavailable() {
        network.onRequest(connection -> {
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{");
            connection.close();
        });

        assertThat(failure().reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @Test
    void get_nobodyListening_isUnavailableAndNamesTheServer() {
        String url = network.url();
        network.close();

        ApiServerException failure = failure();

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure.getMessage()).startsWith("GET Secret shop/db: no connection to " + url);
    }

    @Test
    void get_unknownHost_isUnavailableAndNamesTheServer() {
        connect(config("http://nowhere.invalid:8080"));

        ApiServerException failure = failure();

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure.getMessage()).contains("the host name in http://nowhere.invalid:8080 could not be resolved");
    }

    @Test
    void get_serverThatSpeaksNoTls_isUnavailableAndNamesTheServer() {
        String url = network.url().replace("http:", "https:");
        network.onRequest(connection -> {});
        connect(config(url));

        ApiServerException failure = failure(get(ReadSource.QUORUM, Duration.ofSeconds(2)));

        assertThat(failure.getMessage()).contains(url);
    }

    @Test
    void get_beyondTheLimit_waitsForItsToken() {
        network.answer("200 OK", SECRET);
        ManualTimekeeper time = new ManualTimekeeper();
        server.close();
        server = new Fabric8ApiServer(client, new RequestLimit(1, 1), time);
        get(ReadSource.QUORUM).join();

        CompletableFuture<Fetched<Secret>> second = get(ReadSource.QUORUM);
        time.advance(Duration.ofMillis(999));
        assertThat(network.requests).hasSize(1);
        time.advance(Duration.ofMillis(1));

        second.join();
        assertThat(network.requests).hasSize(2);
    }

    @Test
    void get_tokenThatWouldComeTooLate_isThrottledAndNotSent() {
        network.answer("200 OK", SECRET);
        server.close();
        server = Fabric8ApiServer.of(client, new RequestLimit(0.001, 1));
        get(ReadSource.QUORUM).join();

        ApiServerException failure = failure(get(ReadSource.QUORUM, Duration.ofSeconds(5)));

        assertThat(failure.reason()).isEqualTo(FailureReason.THROTTLED);
        assertThat(failure.getMessage()).contains("client-side rate limit");
        assertThat(network.requests).hasSize(1);
    }

    @Test
    void close_getInFlight_failsAtOnce() {
        CompletableFuture<Fetched<Secret>> held = get(ReadSource.QUORUM);
        await().until(() -> network.requests.size() == 1);

        server.close();

        assertThat(held).isCompletedExceptionally();
        assertThat(failure(held).getMessage()).contains("have been closed; close them after everything that uses them");
    }

    @Test
    void close_laterGet_saysWhatToCloseFirstAndIsNotWorthRepeating() {
        server.close();

        ApiServerException failure = failure();

        assertThat(failure).hasMessageContaining("have been closed; close them after everything that uses them");
        assertThat(Retries.mayPass(failure.reason())).isFalse();
    }

    @Test
    void close_laterGet_failsAtOnceAndTheClientStaysOpen() {
        server.close();
        server.close();

        assertThat(get(ReadSource.QUORUM)).isCompletedExceptionally();
        network.answer("200 OK", SECRET);
        assertThat(client.secrets().inNamespace("shop").withName("db").get()).isNotNull();
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

    private CompletableFuture<Fetched<Secret>> get(ReadSource source) {
        return get(source, Duration.ofSeconds(Patience.SECONDS));
    }

    private CompletableFuture<Fetched<Secret>> get(ReadSource source, Duration timeout) {
        return server.getter(ObjectKind.SECRET).get(DB, source, timeout);
    }

    private ApiServerException failure() {
        return failure(get(ReadSource.QUORUM));
    }

    private static ApiServerException failure(CompletableFuture<?> future) {
        Throwable thrown = catchThrowable(future::join);
        assertThat(thrown).isInstanceOf(CompletionException.class).hasCauseInstanceOf(ApiServerException.class);
        return (ApiServerException) thrown.getCause();
    }

    private static String status(String message, String more) {
        return "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" + message + "\"" + more + "}";
    }
}
