package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.vertx.core.http.HttpVersion;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a caller's client does to our requests: its interceptors and its user agent. */
@ExtendWith(NoLeaks.class)
@NullUnmarked
class ClientInterceptorsTest extends WireFixture {

    private static final String OURS = "podcache/0.0.0"; // outside of a jar

    private final List<String> received = new CopyOnWriteArrayList<>(); // of one header
    private WireServer server;

    /** An interceptor that only looks and sets headers. */
    private interface Before extends Interceptor {
        @Override
        void before(BasicBuilder builder, HttpRequest request, RequestTags tags);
    }

    @BeforeEach
    void start() {
        server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
    }

    /** Takes the values of a header that arrive. */
    private void follow(String header) {
        server.handle((arrived, exchange) -> {
            received.add(String.join("; ", exchange.headers().getAll(header)));
            return false;
        });
    }

    private Config config() {
        return config(server.url())
                .withOauthToken("abc")
                .withUserAgent("mine/1")
                .build();
    }

    private void intercept(Before... interceptors) {
        connect(config(), Timekeeper.system(), http -> {
            for (int i = 0; i < interceptors.length; i++) {
                http.addOrReplaceInterceptor("test-" + i, interceptors[i]);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void before_addsAndReplacesHeaders_ofEveryRequest(RequestKind call) throws InterruptedException {
        follow("X-Tenant");
        intercept(
                (builder, request, tags) -> builder.header("X-Tenant", "first").header("X-Tenant", "Käse"),
                (builder, request, tags) -> builder.setHeader("Authorization", "Bearer other"));

        answerOf(make(call, "object"));

        String utf8 = new String("Käse".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(received).containsOnly("first; " + utf8);
        assertThat(server.arrived).extracting(WireServer.Arrived::token).containsOnly("other");
    }

    @Test
    void before_headerInAnotherCase_replacesOurs() throws InterruptedException {
        follow("authorization");
        intercept((builder, request, tags) -> builder.setHeader("AUTHORIZATION", "Bearer other"));

        answerOf(make(RequestKind.GET, "object"));

        assertThat(received).containsOnly("Bearer other");
    }

    @Test
    void before_seesTheRequest_andCannotMoveItElsewhere() throws InterruptedException {
        List<String> seen = new CopyOnWriteArrayList<>();
        intercept((builder, request, tags) -> {
            seen.add(request.method() + " " + request.uri() + " " + request.bodyString() + " "
                    + request.header("Authorization") + " " + tags.getTag(String.class));
            builder.uri(URI.create("https://203.0.113.1/elsewhere"));
        });

        answerOf(make(RequestKind.PATCH, "object"));

        assertThat(seen)
                .contains("PATCH " + server.url()
                        + "/api/v1/namespaces/shop/pods/object/status {\"status\":{}} Bearer abc null");
        assertThat(server.arrived("/pods/object/status")).hasSize(1);
    }

    /** Otherwise tokens, impersonation and the headers of the configuration would be sent twice. */
    @Test
    void interceptorsOfFabric8_doNotRun() throws InterruptedException {
        follow("Authorization");
        intercept((builder, request, tags) -> {});

        answerOf(make(RequestKind.GET, "object"));

        assertThat(received).containsOnly("Bearer abc");
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void before_thatThrows_failsItsRequestOnly_andIsNotQuoted(RequestKind call) throws InterruptedException {
        intercept((builder, request, tags) -> {
            if (request.uri().toString().contains("bad")) {
                throw new IllegalStateException("about " + NoLeaks.CANARY);
            }
        });

        ApiServerException failure = failureOf(make(call, "bad"));

        assertThat(failure)
                .hasMessageContaining("the interceptor " + ClientInterceptorsTest.class.getName())
                .hasMessageContaining("failed with java.lang.IllegalStateException")
                .hasMessageNotContaining(NoLeaks.CANARY);
        answerOf(make(call, "good"));
        assertThat(server.arrived("bad")).isEmpty();
    }

    @Test
    void before_valueWithALineBreak_failsTheRequest_andIsNotQuoted() throws InterruptedException {
        intercept((builder, request, tags) -> builder.setHeader("X-Tenant", "a\r\nX-Admin: " + NoLeaks.CANARY));

        ApiServerException failure = failureOf(make(RequestKind.GET, "object"));

        assertThat(failure)
                .hasMessageContaining("set the header X-Tenant to a value with a line break")
                .hasMessageNotContaining(NoLeaks.CANARY);
        assertThat(server.arrived).isEmpty();
    }

    @Test
    void before_thatBlocks_holdsUpItsRequestOnly() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        intercept((builder, request, tags) -> {
            if (request.uri().toString().contains("slow")) {
                held.countDown();
                awaitRelease(release);
            }
        });
        CompletableFuture<?> slow = make(RequestKind.GET, "slow");
        assertThat(held.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();

        answerOf(make(RequestKind.GET, "object"));

        assertThat(slow).isNotDone();
        release.countDown();
        answerOf(slow);
    }

    private static void awaitRelease(CountDownLatch release) {
        try {
            release.await(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void userAgent_isThatOfTheClient_withOurs(RequestKind call) throws InterruptedException {
        follow("User-Agent");
        Config config = config();
        connect(config);

        answerOf(make(call, "object"));

        assertThat(received).containsOnly("mine/1 " + OURS);
        assertThat(config.getUserAgent()).isEqualTo("mine/1");
    }

    /** As of a second cache on a configuration that names us already. */
    @Test
    void userAgent_thatNamesUs_staysAsItIs() throws InterruptedException {
        follow("User-Agent");
        connect(config(server.url()).withUserAgent("mine/1 " + OURS).build());

        answerOf(make(RequestKind.GET, "object"));

        assertThat(received).containsOnly("mine/1 " + OURS);
    }

    @Test
    void userAgent_clientWithoutOne_isOurs() throws InterruptedException {
        follow("User-Agent");
        Config config = config();
        config.setUserAgent(null);
        connect(config);

        answerOf(make(RequestKind.GET, "object"));

        assertThat(received).containsOnly(OURS);
    }
}
