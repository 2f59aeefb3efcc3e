package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimers;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
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

    /** Of a watch, until it is open. */
    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(20);

    /** Longer than the pause between two readings of the same credentials. */
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private static final Duration MILLI = Duration.ofMillis(1);

    private final ManualTimers time = closeLater(new ManualTimers());
    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));

    @TempDir
    private Path folder;

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("credentials");
    }

    @Test
    void tokenProviderHangs_manyListsOnRealTime_eachEndsAtItsOwnTimeout() throws InterruptedException {
        connectWithHangingProvider(Timekeeper.system());

        for (CompletableFuture<?> list : many(i -> list("object-" + i, Duration.ofMillis(300)))) {
            assertTimesOut(list);
        }
    }

    @Test
    void tokenProviderHangs_manyLists_eachEndsAtItsOwnTimeout() throws InterruptedException {
        connectWithHangingProvider(time);

        assertEachTimesOut(many(i -> list("object-" + i, timeoutOf(i))), RequestDeadlineTest::timeoutOf);
    }

    @Test
    void tokenProviderHangs_manyGets_eachEndsAtItsOwnTimeout() throws InterruptedException {
        connectWithHangingProvider(time);

        assertEachTimesOut(many(i -> get("object-" + i, timeoutOf(i))), RequestDeadlineTest::timeoutOf);
    }

    @Test
    void tokenProviderHangs_manyWatches_eachEnds() throws InterruptedException {
        connectWithHangingProvider(time);

        assertEachTimesOut(many(i -> watch("object-" + i)), i -> OPEN_TIMEOUT);
    }

    @Test
    void execPluginHangsAtRenewal_refusedRequests_eachEndsAtItsOwnTimeout() throws Exception {
        connectWithPluginThatHangsAtRenewal();
        List<CompletableFuture<?>> refused = many(i -> list("refused-" + i, timeoutOf(i)));
        await().until(() -> server.arrived("refused").size() >= MANY);

        assertEachTimesOut(refused, RequestDeadlineTest::timeoutOf);
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

    private void connectWithHangingProvider(Timekeeper timekeeper) {
        CountDownLatch released = new CountDownLatch(1);
        connect(
                config(server.url())
                        .withOauthTokenProvider(() -> {
                            try {
                                released.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                            return "token";
                        })
                        .build(),
                timekeeper);
        closeLater(released::countDown);
    }

    /** Has the plugin run for the first credentials, and hang from then on. Requests about "refused" get 401. */
    private void connectWithPluginThatHangsAtRenewal() throws IOException, InterruptedException {
        WirePlugin plugin = new WirePlugin(folder);
        plugin.returnToken("token");
        Path kubeconfig = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(kubeconfig.toFile()), time);
        closeLater(plugin);
        for (RequestKind call : RequestKind.values()) {
            answerOf(make(call, "before"));
        }
        time.advance(PAUSE);
        plugin.hang();
        server.refuse(request -> request.uri().contains("refused"));
    }

    private static List<CompletableFuture<?>> many(IntFunction<CompletableFuture<?>> request) {
        return IntStream.range(0, MANY).<CompletableFuture<?>>mapToObj(request).toList();
    }

    private static Duration timeoutOf(int request) {
        return Duration.ofSeconds(3 + request);
    }

    /** Lets time pass from one timeout to the next, which are in ascending order, and requires that no request ends before. */
    private void assertEachTimesOut(List<CompletableFuture<?>> requests, IntFunction<Duration> timeouts)
            throws InterruptedException {
        Duration passed = Duration.ZERO;
        for (int i = 0; i < requests.size(); i++) {
            Duration timeout = timeouts.apply(i);
            if (passed.compareTo(timeout) < 0) {
                time.advance(timeout.minus(passed).minus(MILLI));
                assertThat(requests.subList(i, MANY)).noneMatch(CompletableFuture::isDone);
                time.advance(MILLI);
                passed = timeout;
            }
            assertTimesOut(requests.get(i));
        }
    }

    private static void assertTimesOut(CompletableFuture<?> request) throws InterruptedException {
        assertThat(failureOf(request).reason()).isEqualTo(FailureReason.TIMEOUT);
    }
}
