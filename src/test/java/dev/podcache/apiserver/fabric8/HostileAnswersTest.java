package dev.podcache.apiserver.fabric8;

import static dev.podcache.apiserver.fabric8.ScriptedServer.answering;
import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.apiserver.fabric8.ScriptedServer.ScriptedConnection;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.PodKey;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a get makes of a server that answers GET, LIST and WATCH with nonsense, and what becomes of it afterwards. */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class HostileAnswersTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final PodKey POD = PodKey.of("shop", "web-1", "uid-1");
    private static final PodKey SUCCESSOR = PodKey.of("shop", "web-1", "uid-2");
    private static final Duration READ_TIMEOUT = Duration.ofMillis(600);
    private static final Duration SYNC_WAIT = Duration.ofMillis(300);
    private static final String TOKEN = "t0ken-" + NoLeaks.CANARY;
    private static final String ENCODED_CANARY = Base64.getEncoder().encodeToString(NoLeaks.CANARY.getBytes(UTF_8));
    private static final String SECRET = secret();
    private static final String MEBIBYTE = "x".repeat(1 << 20);
    private static final byte[] BOMB = bomb(100 << 20);

    private final ScriptedServer network = new ScriptedServer();
    private KubernetesClient client;
    private Fabric8ApiServer server;
    private TtlObjectStore<Secret> cached;
    private WatchObjectStore<Secret> watched;

    @BeforeEach
    void setUp(NoLeaks noLeaks) {
        noLeaks.allowWarnings("watch of Secret shop/db failed; retrying: ");
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl(network.url())
                        .withOauthToken(TOKEN)
                        .build())
                .build();
        server = Fabric8ApiServer.of(client);
        StoreOptions options = new StoreOptions(
                server.timekeeper(), READ_TIMEOUT, PayloadBudget.unlimited(server.timekeeper()), PodcacheMetrics.NONE);
        cached = new TtlObjectStore<>(
                ObjectKind.SECRET, server.getter(ObjectKind.SECRET), FixedTtl.ofSeconds(60), options);
        watched = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                options,
                new WatchObjectStore.WatchTimes(SYNC_WAIT, Duration.ofMinutes(1)));
    }

    @AfterEach
    void tearDown() {
        cached.close();
        watched.close();
        server.close();
        client.close();
        network.close();
    }

    /** What a server may say, however wrong. */
    @SuppressWarnings("ImmutableEnumChecker") // a script keeps nothing
    enum Nonsense {
        RETRY_AFTER_FOR_EVER(answering("429 Too Many Requests\r\nRetry-After: 99999999999999999999", "")),
        RETRY_AFTER_OF_TEN_DIGITS(answering("503 Unavailable\r\nRetry-After: 9999999999", "")),
        RETRY_AFTER_IN_THE_YEAR_9999(answering("503 Unavailable\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT", "")),
        RETRY_AFTER_NEGATIVE(answering("503 Unavailable\r\nRetry-After: -9223372036854775808", "")),
        NO_HTTP(connection -> connection.write("\0\1\2" + NoLeaks.CANARY + "\r\n\r\n")),
        NO_HEADERS_END(connection -> connection.write("HTTP/1.1 200 OK\r\nX: " + NoLeaks.CANARY + "x".repeat(100_000))),
        CODE_OF_NO_KIND(answering("999 " + NoLeaks.CANARY, NoLeaks.CANARY)),
        CODE_TOO_LONG(answering("2000000000000000 OK", SECRET)),
        INFORMATION_FOR_EVER(connection -> connection.write("HTTP/1.1 100 Continue\r\n\r\n".repeat(1000))),
        SWITCHING_PROTOCOLS(connection -> connection.write("HTTP/1.1 101 Switching Protocols\r\n\r\n" + SECRET)),
        NO_CONTENT(connection -> connection.write("HTTP/1.1 204 No Content\r\n\r\n")),
        PARTIAL_CONTENT(answering("206 Partial Content", SECRET.substring(0, SECRET.length() / 2))),
        NOT_MODIFIED(connection -> connection.write("HTTP/1.1 304 Not Modified\r\n\r\n")),
        REDIRECT_TO_NOWHERE(answering("302 Found\r\nLocation: :::" + NoLeaks.CANARY, "")),
        REDIRECT_TO_ITSELF(answering("307 Temporary Redirect\r\nLocation: /api/v1/namespaces/shop/secrets/db", "")),
        LENGTH_TOO_LONG(connection ->
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n" + SECRET)),
        // no canary in what follows the answer: Vert.x takes it for another answer, and logs
        // what it cannot make sense of
        LENGTH_TOO_SHORT(connection ->
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + SECRET.substring(0, 60))),
        LENGTH_NEGATIVE(connection -> connection.write("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + SECRET)),
        LENGTH_NO_NUMBER(connection -> connection.write("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n" + SECRET)),
        CHUNK_NO_NUMBER(connection -> connection.write(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + NoLeaks.CANARY + "\r\n" + SECRET)),
        CHUNK_TOO_LONG(connection ->
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n" + SECRET)),
        CHUNK_CUT(connection -> {
            connection.write(ScriptedServer.CHUNKED + "5\r\n{\"kin");
            connection.close();
        }),
        GZIP_OF_GARBAGE(answering("200 OK\r\nContent-Encoding: gzip", NoLeaks.CANARY)),
        GZIP_BOMB(connection -> {
            connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + BOMB.length + "\r\n\r\n");
            connection.write(BOMB);
        }),
        ENCODING_UNKNOWN(answering("200 OK\r\nContent-Encoding: " + NoLeaks.CANARY, "\0\0\0" + NoLeaks.CANARY)),
        DEEP(answering("200 OK", "{\"kind\":\"Secret\",\"data\":" + "{\"a\":".repeat(100_000))),
        CUT_INSIDE_THE_SECRET(answering("200 OK", SECRET.substring(0, SECRET.length() - 12))),
        STATUS_WITH_200(answering("200 OK", "{\"kind\":\"Status\",\"code\":200,\"status\":\"Success\"}")),
        CLOSED_AT_ONCE(ScriptedConnection::close);

        private final ScriptedServer.Script script;

        Nonsense(ScriptedServer.Script script) {
            this.script = script;
        }

        /**
         * Whether the next list comes only after the pause that was asked for, or when the time of this one is over.
         */
        boolean keepsListsWaiting() {
            return asksForAPause() || this == INFORMATION_FOR_EVER || this == LENGTH_TOO_LONG;
        }

        boolean asksForAPause() {
            return name().startsWith("RETRY_AFTER_") && this != RETRY_AFTER_NEGATIVE;
        }
    }

    @ParameterizedTest
    @EnumSource
    void get_nonsense_failsInTimeAndTheNextGoodAnswerCounts(Nonsense nonsense) {
        network.onRequest(nonsense.script);
        cached.addReference(DB, POD);
        watched.addReference(DB, POD);
        long began = System.nanoTime();
        CompletableFuture<Throwable> ofCached =
                CompletableFuture.supplyAsync(() -> catchThrowable(() -> get(cached)), NewThread.EACH);
        CompletableFuture<Throwable> ofWatched =
                CompletableFuture.supplyAsync(() -> catchThrowable(() -> get(watched)), NewThread.EACH);

        assertThat(ofCached.join()).isInstanceOfSatisfying(FetchFailed.class, failed -> {
            assertThat(failed.reason()).isNotNull().isNotEqualTo(FailureReason.NOT_FOUND);
            requireQuotesNothing(failed);
        });
        assertThat(ofWatched.join()).isInstanceOfSatisfying(NotSynced.class, HostileAnswersTest::requireQuotesNothing);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(READ_TIMEOUT.plusSeconds(20));

        network.onRequest(this::answerWell);
        if (nonsense.asksForAPause()) {
            // the pause holds until a new reference to the object is added
            cached.addReference(DB, SUCCESSOR);
        }
        await().ignoreExceptions().until(() -> Secrets.value(get(cached)).equals("v1"));
        if (!nonsense.keepsListsWaiting()) {
            await().ignoreExceptions().until(() -> Secrets.value(get(watched)).equals("v1"));
        }
    }

    /** An answer that never ends is cut off by its size before its time is over. */
    @Test
    void get_endlessAnswer_isUnreadableAtItsBound() {
        network.onRequest(HostileAnswersTest::flood);
        Throwable failure = catchThrowable(() -> server.getter(ObjectKind.SECRET)
                .get(DB, ReadSource.QUORUM, Duration.ofSeconds(Patience.SECONDS))
                .join());

        assertThat(failure.getCause()).hasMessageContaining("longer than 16777216 bytes");
        await().until(() -> network.openConnections.get() == 0);
    }

    @Test
    void heartbeat_endlessAnswer_isUnreadableAtItsBound() {
        network.onRequest(HostileAnswersTest::flood);
        try (Heartbeats heartbeats = server.heartbeats(Duration.ofMinutes(4))) {
            // on a busy machine its time, of 3 s at first, may be over before
            await().untilAsserted(() -> assertThat(catchThrowable(
                            () -> heartbeats.nodes().get(ObjectKey.of("", "n")).join()))
                    .hasStackTraceContaining("longer than 16777216 bytes"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 303, 308})
    void get_redirectToAnotherHost_isNotFollowed(int code) {
        try (ScriptedServer elsewhere = new ScriptedServer()) {
            elsewhere.answer("200 OK", SECRET);
            network.answer(
                    code + " Elsewhere\r\nLocation: " + elsewhere.url() + "/api/v1/namespaces/shop/secrets/db", "");
            cached.addReference(DB, POD);
            watched.addReference(DB, POD);

            assertThat(catchThrowable(() -> get(cached)))
                    .isInstanceOfSatisfying(
                            FetchFailed.class,
                            failed -> assertThat(failed.reason()).isIn(FailureReason.REJECTED, FailureReason.TIMEOUT));
            assertThat(catchThrowable(() -> get(watched))).isInstanceOf(NotSynced.class);
            assertThat(elsewhere.requests).isEmpty();
        }
    }

    private static void flood(ScriptedConnection connection) throws IOException {
        connection.write(ScriptedServer.CHUNKED);
        while (true) {
            connection.chunk(MEBIBYTE);
        }
    }

    private static Secret get(Store<Secret> store) {
        return store.get(DB.namespace(), DB.name());
    }

    private void answerWell(ScriptedConnection connection) throws IOException {
        String head = network.requests.get(network.requests.size() - 1);
        if (head.contains("watch=true")) {
            connection.write(ScriptedServer.CHUNKED);
            connection.chunk("\n");
        } else {
            boolean list = head.contains("fieldSelector");
            answering(
                            "200 OK",
                            list
                                    ? "{\"kind\":\"SecretList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":["
                                            + SECRET + "]}"
                                    : SECRET)
                    .answer(connection);
        }
    }

    private static void requireQuotesNothing(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            assertThat(each.toString())
                    .doesNotContain(NoLeaks.CANARY)
                    .doesNotContain(ENCODED_CANARY)
                    .hasSizeLessThan(1000);
        }
    }

    private static String secret() {
        Secret secret = Secrets.of(DB, "v1");
        secret.getMetadata().setResourceVersion("7");
        return Serialization.asJson(secret);
    }

    private static byte[] bomb(int size) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(SECRET.substring(0, SECRET.length() - 1).getBytes(UTF_8));
            byte[] blanks = " ".repeat(1 << 20).getBytes(ISO_8859_1);
            for (int written = 0; written < size; written += blanks.length) {
                zip.write(blanks);
            }
        } catch (IOException e) {
            throw new AssertionError("writing to memory", e);
        }
        return bytes.toByteArray();
    }
}
