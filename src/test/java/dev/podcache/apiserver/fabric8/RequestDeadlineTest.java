package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The time of a request begins when it is made, and what hangs for one request holds up no other. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RequestDeadlineTest extends WireFixture {

    /** More than any pool of threads that may block has threads, so that some of them wait for a thread. */
    private static final int MANY = 12;

    private static final Duration SHORT = Duration.ofSeconds(1);

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));

    @TempDir
    private Path folder;

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("credentials");
    }

    @Test
    void tokenProviderHangs_manyLists_eachEndsAtItsOwnTimeout() throws InterruptedException {
        connectWithHangingProvider();

        assertAllTimeOut(many(i -> list("object-" + i, SHORT)));
    }

    @Test
    void tokenProviderHangs_manyGets_eachEndsAtItsOwnTimeout() throws InterruptedException {
        connectWithHangingProvider();

        assertAllTimeOut(many(i -> get("object-" + i, SHORT)));
    }

    @Test
    void tokenProviderHangs_manyWatches_eachEnds() throws InterruptedException {
        connectWithHangingProvider();

        assertAllTimeOut(many(i -> watch("object-" + i)));
    }

    @Test
    void execPluginHangsAtRenewal_refusedRequests_eachEndsAtItsOwnTimeout() throws Exception {
        connectWithPluginThatHangsAtRenewal();

        assertAllTimeOut(many(i -> list("refused-" + i, Duration.ofSeconds(3))));
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void execPluginHangsAtRenewal_requestThatNeedsNoRenewal_isAnswered(RequestKind call) throws Exception {
        connectWithPluginThatHangsAtRenewal();
        List<CompletableFuture<?>> refused = many(i -> list("refused-" + i, Duration.ofMinutes(1)));
        await().until(() -> server.arrived("refused").size() >= MANY);

        answerOf(make(call, "other"));

        assertThat(refused).noneMatch(CompletableFuture::isDone);
    }

    private void connectWithHangingProvider() {
        CountDownLatch released = new CountDownLatch(1);
        connect(config(server.url())
                .withOauthTokenProvider(() -> {
                    try {
                        released.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return "token";
                })
                .build());
        closeLater(released::countDown);
    }

    /** Has the plugin run for the first credentials, and hang from then on. Requests about "refused" get 401. */
    private void connectWithPluginThatHangsAtRenewal() throws IOException, InterruptedException {
        WirePlugin plugin = new WirePlugin(folder);
        plugin.returnToken("token");
        Path kubeconfig = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(kubeconfig.toFile()));
        closeLater(plugin);
        for (RequestKind call : RequestKind.values()) {
            answerOf(make(call, "before"));
        }
        plugin.hang();
        server.refuse(request -> request.uri().contains("refused"));
    }

    private static List<CompletableFuture<?>> many(IntFunction<CompletableFuture<?>> request) {
        return IntStream.range(0, MANY).<CompletableFuture<?>>mapToObj(request).toList();
    }

    private static void assertAllTimeOut(List<CompletableFuture<?>> requests) throws InterruptedException {
        for (CompletableFuture<?> request : requests) {
            assertThat(failureOf(request).reason()).isEqualTo(FailureReason.TIMEOUT);
        }
    }
}
