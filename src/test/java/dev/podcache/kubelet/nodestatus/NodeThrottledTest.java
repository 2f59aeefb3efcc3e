package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pause that the server asks for delays every request about the Node, from all loops. */
@ExtendWith(NoLeaks.class)
class NodeThrottledTest {

    private static final Duration ALMOST = Duration.ofMillis(1999);
    private static final Duration MILLI = Duration.ofMillis(1);
    private static final RequestPattern PATCHES = RequestPattern.any().verb(Verb.PATCH);

    private final UpdaterFixture fixture = new UpdaterFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @ParameterizedTest
    @EnumSource
    @ExpectedWarnings("was not registered: ")
    void registration_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        fixture.server.failNext(1, said.answer(), RequestPattern.any().verb(Verb.CREATE));
        fixture.updater().start();
        fixture.time.advance(UpdaterFixture.REGISTERED);
        requireNothingBeforeTwoSeconds();

        assertThat(fixture.server.count(Verb.CREATE)).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings("was not registered: ")
    void registration_creationForbiddenAndReadThrottled_isNotRepeatedBefore() {
        fixture.server.failNext(
                1,
                UpdaterFixture.failure(FailureReason.FORBIDDEN),
                RequestPattern.any().verb(Verb.CREATE));
        fixture.server.failNext(
                1, TooManyRequests.SECONDS.answer(), RequestPattern.any().verb(Verb.GET));
        fixture.updater().start();
        fixture.time.advance(UpdaterFixture.REGISTERED);
        requireNothingBeforeTwoSeconds();

        assertThat(fixture.server.count(Verb.CREATE)).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    @ExpectedWarnings("was not reported: ")
    void sync_throttledForTwoSeconds_isNotTriedAgainBefore(TooManyRequests said) {
        fixture.started();
        fixture.server.failNext(1, said.answer(), PATCHES);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);
        requireNothingBeforeTwoSeconds();

        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.GET, Verb.PATCH);
    }

    @Test
    @ExpectedWarnings("was not reported: ")
    void sync_throttled_saysSoWhileItPauses() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.failNext(1, TooManyRequests.SECONDS.answer(), PATCHES);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);

        assertThat(updater.state().problem())
                .hasValueSatisfying(problem -> assertThat(problem).contains("429"));
    }

    @Test
    @ExpectedWarnings("was not reported: ")
    void sync_lastTryThrottled_theNextSyncComesNoSoonerEither() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.failNext(4, UpdaterFixture.failure(FailureReason.UNAVAILABLE), PATCHES);
        fixture.server.failNext(1, TooManyRequests.SECONDS.answer(), PATCHES);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);
        updater.syncSoon();
        requireNothingBeforeTwoSeconds();

        assertThat(fixture.node().getStatus().getCapacity()).isEqualTo(Nodes.quantities("cpu", "2", "memory", "40e9"));
    }

    @Test
    @ExpectedWarnings("was not reported: ")
    void sync_throttledForAYear_isTriedAgainAfterTwoMinutes() {
        fixture.started();
        fixture.server.failNext(
                1, new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofDays(365), "429", null), PATCHES);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);
        fixture.time.advance(Duration.ofMinutes(2));

        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.GET, Verb.PATCH);
    }

    @ParameterizedTest
    @EnumSource
    void fastReport_throttledForTwoSeconds_noSyncBefore(TooManyRequests said) {
        fixture.ready = false;
        NodeStatusUpdater updater = fixture.started();
        fixture.server.failNext(1, said.answer(), PATCHES);
        fixture.ready = true;
        fixture.time.advance(Duration.ofMillis(100));
        updater.syncSoon();
        requireNothingBeforeTwoSeconds();

        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
    }

    @Test
    @ExpectedWarnings("was not reported: ")
    void close_duringAPause_leavesNoTimer() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.failNext(1, TooManyRequests.SECONDS.answer(), PATCHES);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);
        updater.close();
        fixture.lister.close();

        assertThat(fixture.time.scheduledTasks()).isZero();
    }

    private void requireNothingBeforeTwoSeconds() {
        int before = fixture.calls().size();
        fixture.time.advance(ALMOST);
        assertThat(fixture.calls()).hasSize(before);
        fixture.time.advance(MILLI);
        assertThat(fixture.calls()).hasSizeGreaterThan(before);
    }
}
