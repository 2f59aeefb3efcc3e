package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pause that the server asks for is respected, but not for so long that the Lease expires. */
@ExtendWith(NoLeaks.class)
class LeaseThrottledTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final Duration ALMOST = Duration.ofMillis(1999);
    private static final Duration MILLI = Duration.ofMillis(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(time);
    private final NodeLeaseOptions options = new NodeLeaseOptions("foo", Duration.ofSeconds(40), () -> {});
    private final LeaseSync sync =
            new LeaseSync(server.api(ObjectKind.LEASE, TIMEOUT), server.api(ObjectKind.NODE, TIMEOUT), options, time);
    private final NodeLeaseController controller = new NodeLeaseController(sync, options, time, () -> 0);

    @BeforeEach
    void createNode() {
        server.cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName("foo")
                        .endMetadata()
                        .build());
    }

    @AfterEach
    void tearDown() {
        controller.stopAsync().awaitTerminated();
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void update_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        started();
        server.failNext(1, said.answer());
        time.advance(INTERVAL);
        requireNothingBeforeTwoSeconds();

        assertThat(server.count(Verb.UPDATE)).isEqualTo(2);
    }

    @Test
    void update_lastTryThrottled_noReadBeforeTwoSecondsEither(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed in 5 tries");
        started();
        server.failNext(4, new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "away", null));
        server.failNext(1, TooManyRequests.SECONDS.answer());
        time.advance(INTERVAL);
        assertThat(server.actions()).hasSize(5);
        requireNothingBeforeTwoSeconds();

        assertThat(server.count(Verb.GET)).isEqualTo(1);
    }

    @Test
    void update_conflictThatAsksForAPause_isNotReadBefore() {
        started();
        server.failNext(1, new ApiServerException(FailureReason.CONFLICT, 409, Duration.ofSeconds(2), "changed", null));
        time.advance(INTERVAL);
        requireNothingBeforeTwoSeconds();

        assertThat(server.count(Verb.GET)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void ensure_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said, NoLeaks leaks) {
        leaks.allowWarnings("retrying in 2000 ms");
        server.failNext(1, said.answer(), RequestPattern.any().verb(Verb.GET));
        start();
        requireNothingBeforeTwoSeconds();

        assertThat(server.count(Verb.CREATE)).isEqualTo(1);
    }

    @Test
    void update_throttledForAYear_isTriedOnceAnInterval() {
        started();
        server.failNext(1, forAYear());
        time.advance(INTERVAL);
        time.advance(INTERVAL);

        assertThat(server.count(Verb.UPDATE)).isEqualTo(2);
        assertThat(controller.sinceRenewal()).contains(Duration.ZERO);
    }

    @Test
    void ensure_throttledForAYear_isTriedOnceAnInterval(NoLeaks leaks) {
        leaks.allowWarnings("retrying in 10000 ms");
        server.failNext(1, forAYear());
        start();
        time.advance(INTERVAL);

        assertThat(server.count(Verb.CREATE)).isEqualTo(1);
    }

    @Test
    void stop_duringAPause_makesNoFurtherRequest() {
        started();
        server.failNext(1, TooManyRequests.SECONDS.answer());
        time.advance(INTERVAL);
        controller.stopAsync().awaitTerminated();

        assertThat(time.scheduledTasks()).isZero();
    }

    private static ApiServerException forAYear() {
        return new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofDays(365), "429", null);
    }

    private void requireNothingBeforeTwoSeconds() {
        int before = server.actions().size();
        time.advance(ALMOST);
        assertThat(server.actions()).hasSize(before);
        time.advance(MILLI);
        assertThat(server.actions()).hasSizeGreaterThan(before);
    }

    private void started() {
        start();
        server.clearActions();
    }

    private void start() {
        controller.startAsync().awaitRunning();
        time.advance(Duration.ZERO);
    }
}
