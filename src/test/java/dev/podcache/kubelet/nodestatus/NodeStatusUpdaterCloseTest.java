package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closing an updater in any state: it makes no further request, and no task stays scheduled. */
@ExtendWith(NoLeaks.class)
class NodeStatusUpdaterCloseTest {

    private final UpdaterFixture fixture = new UpdaterFixture();
    private int scheduledByLister;

    @BeforeEach
    void countTheListersTimers() {
        scheduledByLister = fixture.time.scheduledTasks();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void close_beforeTheStart_startDoesNothing() {
        NodeStatusUpdater updater = fixture.updater();
        updater.close();
        updater.start();
        updater.syncSoon();

        requireSilence();
    }

    @Test
    void close_duringThePauseBeforeRegistration_isTheEnd() {
        NodeStatusUpdater updater = fixture.updater();
        updater.start();
        updater.close();

        requireSilence();
    }

    @Test
    void close_betweenSyncs_isTheEndAndIdempotent() {
        NodeStatusUpdater updater = fixture.started();
        updater.close();
        updater.close();
        updater.syncSoon();

        requireSilence();
    }

    @Test
    void close_duringFastChecks_isTheEnd() {
        fixture.ready = false;
        fixture.started().close();

        requireSilence();
    }

    @ParameterizedTest
    @EnumSource(
            value = Verb.class,
            names = {"CREATE", "GET", "PATCH"})
    void close_duringARegistration_itsAnswerIsTheLast(Verb verb) {
        HeldRequests held = fixture.server.faults().hold(RequestPattern.any().verb(verb));
        NodeStatusUpdater updater = registering(held);

        closeAndAnswer(updater, held);
    }

    @ParameterizedTest
    @EnumSource(
            value = Verb.class,
            names = {"GET", "PATCH"})
    void close_duringASync_itsAnswerIsTheLast(Verb verb) {
        NodeStatusUpdater updater = fixture.started();
        fixture.memory = "40e9";
        if (verb == Verb.GET) {
            fixture.server.failNext(
                    1,
                    UpdaterFixture.failure(FailureReason.CONFLICT),
                    RequestPattern.any().verb(Verb.PATCH));
        }
        HeldRequests held = fixture.server.faults().hold(RequestPattern.any().verb(verb));
        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(held.arrivals()).isEqualTo(1);

        closeAndAnswer(updater, held);
    }

    /** The request fails because the connection is closed after the updater. */
    @ParameterizedTest
    @EnumSource(
            value = Verb.class,
            names = {"CREATE", "GET", "PATCH"})
    void close_duringARegistrationThatFailsThen_isNotReported(Verb verb) {
        HeldRequests held = fixture.server.faults().hold(RequestPattern.any().verb(verb));
        NodeStatusUpdater updater = registering(held);

        updater.close();
        fixture.time.advance(UpdaterFixture.TIMEOUT);

        requireSilence();
        // NoLeaks checks that there is no warning
        assertThat(updater.state().problem()).isEmpty();
    }

    @Test
    void close_duringASyncThatTimesOut_isNotTriedAgain() {
        NodeStatusUpdater updater = fixture.started();
        fixture.memory = "40e9";
        fixture.server.faults().hold(RequestPattern.any().verb(Verb.PATCH));
        fixture.time.advance(UpdaterFixture.SYNC);

        updater.close();

        requireSilence();
        assertThat(fixture.repeatedFailures).isZero();
    }

    @Test
    void close_fromASetter_reportsNothing() {
        NodeStatusUpdater[] updater = new NodeStatusUpdater[1];
        fixture.server.cluster().create(Nodes.empty());
        updater[0] = fixture.updater(options -> options.registerNode(false).setters(List.of((node, now) -> {
            node.getStatus().setPhase("new");
            updater[0].close();
        })));
        updater[0].start();

        assertThat(fixture.calls()).isEmpty();
        requireSilence();
    }

    /** Returns an updater that is correcting an existing Node, and whose request is held. */
    private NodeStatusUpdater registering(HeldRequests held) {
        Node stale = Nodes.initial().build().toNode();
        stale.getMetadata().getLabels().put("kubernetes.io/os", "other");
        fixture.server.cluster().create(stale);
        NodeStatusUpdater updater = fixture.updater();
        updater.start();
        fixture.time.advance(UpdaterFixture.REGISTERED);
        assertThat(held.arrivals()).isEqualTo(1);
        return updater;
    }

    private void closeAndAnswer(NodeStatusUpdater updater, HeldRequests held) {
        updater.close();
        fixture.server.clearActions();
        held.release();

        requireSilence();
        assertThat(updater.state().problem()).isEmpty();
    }

    private void requireSilence() {
        fixture.server.clearActions();
        int computed = fixture.computed;
        fixture.time.advance(Duration.ofMinutes(10));
        assertThat(fixture.calls()).isEmpty();
        assertThat(fixture.computed).isEqualTo(computed);
        assertThat(fixture.time.scheduledTasks()).isEqualTo(scheduledByLister);
    }
}
