package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import com.google.common.util.concurrent.Service;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The loop of the controller. Contains upstream's TestStopDoesNotBlockWhenLeaseCannotBeCreated. */
class NodeLeaseControllerTest extends LeaseFixture {

    @ParameterizedTest
    @CsvSource({"0.0, 10000", "0.5, 10200", "0.999999, 10399"})
    void rounds_areAQuarterOfTheDurationApartWithJitter(double drawn, long millis) {
        random = drawn;
        createNode();
        start();

        assertThat(millisUntilNextCall()).isCloseTo(millis, within(1L));
    }

    @Test
    void rounds_ofAnHour_areNothingButUpdates() {
        createNode();
        start();
        server.clearActions();
        time.advance(Duration.ofHours(1));

        assertThat(server.actions()).hasSize(360);
        assertThat(server.count(Verb.UPDATE)).isEqualTo(360);
    }

    @Test
    void round_thatTakesLong_isFollowedByAFullPause() {
        createNode();
        start();
        server.clearActions();
        server.faults().delay(Duration.ofSeconds(2), RequestPattern.any());
        time.advance(Duration.ofSeconds(21));

        assertThat(server.actions()).hasSize(1);
        time.advance(Duration.ofSeconds(1));
        assertThat(server.actions()).hasSize(2);
    }

    @Test
    void round_callbackThrows_goesOn(NoLeaks leaks) {
        leaks.allowWarnings("onRepeatedFailure of the Lease of Node foo threw");
        createNode();
        NodeLeaseOptions throwing = new NodeLeaseOptions("foo", DURATION, () -> {
            throw new IllegalStateException("a bug");
        });
        LeaseSync other = new LeaseSync(
                server.api(ObjectKind.LEASE, TIMEOUT), server.api(ObjectKind.NODE, TIMEOUT), throwing, time);
        failUpdates(3, FailureReason.UNAVAILABLE, 0);

        assertThat(other.update(createLease()).join()).isTrue();
    }

    @Test
    void round_portThrows_isFollowedByAnother(NoLeaks leaks) {
        leaks.allowWarnings("reading or creating the Lease");
        createNode();
        controller.startAsync().awaitRunning();
        Throwable thrown =
                catchThrowable(() -> server.forbidCallsOnThisThread(() -> time.advance(Duration.ofSeconds(5))));
        assertThat(thrown).isInstanceOf(AssertionError.class);

        time.advance(Duration.ofSeconds(7));

        assertThat(stored().getSpec().getHolderIdentity()).isEqualTo("foo");
    }

    @Test
    void lease_isOwnedByItsNode() {
        String uid = createNode();
        start();

        OwnerReference owner = stored().getMetadata().getOwnerReferences().get(0);
        assertThat(owner.getKind() + " " + owner.getName() + " " + owner.getUid())
                .isEqualTo("Node foo " + uid);
        assertThat(stored().getSpec().getLeaseDurationSeconds()).isEqualTo(40);
    }

    @Test
    void renewTime_clockStepsBack_stillIncreases() {
        createNode();
        start();
        time.advance(Duration.ofSeconds(10));
        ZonedDateTime before = stored().getSpec().getRenewTime();
        clock.step(Duration.ofHours(-3));
        time.advance(Duration.ofSeconds(10));
        ZonedDateTime first = stored().getSpec().getRenewTime();
        time.advance(Duration.ofSeconds(10));

        assertThat(first).isEqualTo(before.plusSeconds(5));
        assertThat(stored().getSpec().getRenewTime()).isEqualTo(before.plusSeconds(10));
    }

    @Test
    void renewTime_clockStepsBackAcrossARestart_stillIncreases() {
        createNode();
        createLease();
        Instant before = stored().getSpec().getRenewTime().toInstant();
        clock.step(Duration.ofDays(-1));
        start();

        assertThat(stored().getSpec().getRenewTime().toInstant()).isEqualTo(before.plus(1, ChronoUnit.MICROS));
    }

    @Test
    void sinceRenewal_clockSteps_measuresRealTime() {
        createNode();
        start();
        clock.step(Duration.ofHours(-3));
        time.advance(Duration.ofSeconds(7));

        assertThat(controller.sinceRenewal()).contains(Duration.ofSeconds(7));
    }

    @Test
    void stop_leavesTheLease() {
        createNode();
        start();

        controller.stopAsync().awaitTerminated();
        server.clearActions();
        time.advance(Duration.ofMinutes(5));

        assertThat(stored().getSpec().getHolderIdentity()).isEqualTo("foo");
        assertThat(server.actions()).isEmpty();
    }

    @Test
    void stop_whileACallIsUnderWay_makesNoOther() {
        createNode();
        start();
        server.clearActions();
        server.faults().delay(Duration.ofSeconds(1), RequestPattern.any());
        failUpdates(1, FailureReason.TIMEOUT, 0);
        time.advance(Duration.ofSeconds(10));

        controller.stopAsync().awaitTerminated();
        int sent = server.actions().size();
        time.advance(Duration.ofMinutes(1));

        assertThat(server.actions()).hasSize(sent);
    }

    @Test
    void stop_whileTheLeaseIsBeingCreated_itsFailureIsNotReported() {
        createNode();
        server.faults()
                .delay(
                        Duration.ofHours(1),
                        RequestPattern.any().verb(Verb.CREATE).resource(Resource.of(Lease.class)));
        start();

        controller.stopAsync().awaitTerminated();
        time.advance(Duration.ofMinutes(1));

        // NoLeaks checks that there is no warning
        assertThat(calls()).containsExactly("GET Lease", "GET Node", "CREATE Lease");
    }

    @Test
    void stop_whileTheLeaseIsRead_itsFailureIsNotReported() {
        createNode();
        server.faults().hold(RequestPattern.any());
        start();

        controller.stopAsync().awaitTerminated();
        time.advance(Duration.ofMinutes(1));

        assertThat(server.actions()).hasSize(1);
    }

    @Test
    void stop_whileARoundIsUnderWay_itsEndLeavesNoTimer() {
        createNode();
        server.faults().hold(RequestPattern.any());
        start();

        controller.stopAsync().awaitTerminated();
        time.advance(TIMEOUT);

        assertThat(time.scheduledTasks()).isZero();
    }

    // TestStopDoesNotBlockWhenLeaseCannotBeCreated

    @Test
    void stop_leaseCanNeverBeCreated_isPromptAndTwicePossible(NoLeaks leaks) {
        leaks.allowWarnings("reading or creating the Lease");
        createNode();
        server.failNext(
                Integer.MAX_VALUE,
                failure(FailureReason.REJECTED, 422),
                RequestPattern.any().verb(Verb.CREATE).resource(Resource.of(Lease.class)));
        start();
        time.advance(Duration.ofMinutes(1));

        controller.stopAsync().awaitTerminated();
        controller.stopAsync().awaitTerminated();

        assertThat(time.scheduledTasks()).isZero();
        assertThat(controller.state()).isEqualTo(Service.State.TERMINATED);
    }
}
