package dev.podcache.nodelease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import com.google.common.util.concurrent.Service;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The controller over an in-memory cluster, in hand-driven time. Contains the cases of upstream's
 * TestRetryUpdateNodeLease, TestUpdateUsingLatestLease and TestStopDoesNotBlockWhenLeaseCannotBeCreated.
 */
@ExtendWith(NoLeaks.class)
class NodeLeaseControllerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration DURATION = Duration.ofSeconds(40);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final SteppingClock clock = new SteppingClock(time);
    private final FakeApiServer server = new FakeApiServer(time);
    private final AtomicInteger repeatedFailures = new AtomicInteger();
    private final NodeLeaseOptions options = new NodeLeaseOptions("foo", DURATION, repeatedFailures::incrementAndGet);
    private final LeaseSync sync = new LeaseSync(server.leaseApi(TIMEOUT), server.nodeApi(TIMEOUT), options, clock);
    private double random;
    private final NodeLeaseController controller = new NodeLeaseController(sync, options, clock, () -> random);

    @AfterEach
    void tearDown() {
        controller.stopAsync().awaitTerminated();
        server.close();
    }

    // TestUpdateUsingLatestLease

    @Test
    void round_noLeaseAndNoneKnown_createsAndDoesNotUpdate() {
        createNode();
        start();

        assertThat(calls()).containsExactly("GET Lease", "GET Node", "CREATE Lease");
        assertThat(version(known())).isEqualTo(version(stored()));
    }

    @Test
    void round_noLeaseAndNoNode_createsNothing() {
        start();

        assertThat(calls()).containsExactly("GET Lease", "GET Node");
        assertThat(sync.latest()).isNull();
        assertThat(controller.sinceRenewal()).isEmpty();
    }

    @Test
    void renewSoon_nodeCameAfterARound_createsTheLeaseAtOnce() {
        start();
        createNode();
        server.clearActions();

        controller.renewSoon();
        time.advance(Duration.ZERO);

        assertThat(calls()).containsExactly("GET Lease", "GET Node", "CREATE Lease");
        time.advance(Duration.ofSeconds(10));
        assertThat(calls()).endsWith("CREATE Lease", "UPDATE Lease");
    }

    @Test
    void renewSoon_duringARoundThatFindsNoNode_isFollowedByAnotherAtOnce(NoLeaks leaks) {
        leaks.allowWarnings("whether Node foo has a lease is not known");
        server.failNext(
                1,
                new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "503", null),
                RequestPattern.any().verb(Verb.GET));
        start();

        controller.renewSoon();
        time.advance(Duration.ofMillis(200));

        assertThat(calls()).containsExactly("GET Lease", "GET Lease", "GET Node", "GET Lease", "GET Node");
    }

    @Test
    void renewSoon_leaseAccepted_changesNothing() {
        createNode();
        start();
        server.clearActions();

        controller.renewSoon();
        time.advance(Duration.ofSeconds(9));

        assertThat(calls()).isEmpty();
    }

    @Test
    void round_leaseThereAndNoneKnown_readsAndUpdates() {
        createNode();
        Lease before = createLease();
        start();

        assertThat(calls()).containsExactly("GET Lease", "GET Node", "UPDATE Lease");
        assertThat(version(known())).isEqualTo(version(stored())).isNotEqualTo(version(before));
    }

    @Test
    void round_leaseKnown_updatesWithoutReading() {
        createNode();
        start();
        server.clearActions();
        time.advance(Duration.ofSeconds(10));

        assertThat(calls()).containsExactly("UPDATE Lease");
        assertThat(version(known())).isEqualTo(version(stored()));
    }

    @Test
    void round_leaseKnownAndUpdateFailsOnce_triesAgainAtOnce() {
        createNode();
        start();
        server.clearActions();
        failUpdates(1, FailureReason.NOT_FOUND, 404);
        time.advance(Duration.ofSeconds(10));

        assertThat(calls()).containsExactly("UPDATE Lease", "UPDATE Lease");
        assertThat(repeatedFailures).hasValue(0);
    }

    // TestRetryUpdateNodeLease

    @Test
    void update_noErrors_succeeds() {
        createNode();

        assertThat(sync.update(createLease()).join()).isTrue();
        assertThat(repeatedFailures).hasValue(0);
    }

    @Test
    void update_serverTimesOutAlways_failsAfterFiveTries(NoLeaks leaks) {
        leaks.allowWarnings("the lease of Node foo could not be renewed in 5 tries");
        createNode();
        failUpdates(5, FailureReason.TIMEOUT, 504);

        assertThat(sync.update(createLease()).join()).isFalse();
        assertThat(server.count(Verb.UPDATE)).isEqualTo(5);
        assertThat(repeatedFailures).hasValue(4);
    }

    @Test
    void update_timeoutThenConflictThenSuccess_readsAnewAndTellsNobody() {
        createNode();
        Lease base = createLease();
        failUpdates(1, FailureReason.TIMEOUT, 504);
        server.cluster()
                .update(base.edit()
                        .editMetadata()
                        .addToLabels("by", "other")
                        .endMetadata()
                        .build());

        assertThat(sync.update(base).join()).isTrue();
        assertThat(calls())
                .containsExactly(
                        "GET Node",
                        "UPDATE Lease",
                        "GET Node",
                        "UPDATE Lease",
                        "GET Lease",
                        "GET Node",
                        "UPDATE Lease");
        assertThat(repeatedFailures).hasValue(0);
        assertThat(stored().getMetadata().getLabels()).containsEntry("by", "other");
    }

    @Test
    void update_nodeMissing_failsAndSendsNothing(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed");

        assertThat(sync.update(createLease()).join()).isFalse();
        assertThat(server.count(Verb.UPDATE)).isZero();
    }

    // TestStopDoesNotBlockWhenLeaseCannotBeCreated

    @Test
    void stop_leaseCanNeverBeCreated_isPromptAndTwicePossible(NoLeaks leaks) {
        leaks.allowWarnings("asking again in");
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

    // Ensuring

    @Test
    void ensure_serverAway_pausesDoubleUpToSevenSeconds(NoLeaks leaks) {
        leaks.allowWarnings("asking again in");
        createNode();
        server.failNext(Integer.MAX_VALUE, failure(FailureReason.UNAVAILABLE, 0));
        start();
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            pauses.add(millisUntilNextCall());
        }

        assertThat(pauses).containsExactly(200L, 400L, 800L, 1600L, 3200L, 6400L, 7000L, 7000L);
    }

    @Test
    void ensure_serverAwayForADay_recoversWithinSevenSeconds(NoLeaks leaks) {
        leaks.allowWarnings("asking again in");
        createNode();
        server.failNext(Integer.MAX_VALUE, failure(FailureReason.UNAVAILABLE, 0));
        start();
        time.advance(Duration.ofDays(1));

        server.clearFailures();
        time.advance(Duration.ofSeconds(7));

        assertThat(stored().getSpec().getHolderIdentity()).isEqualTo("foo");
    }

    @Test
    void ensure_somebodyElseCreatesMeanwhile_takesTheirs(NoLeaks leaks) {
        leaks.allowWarnings("asking again in 200 ms");
        createNode();
        server.failNext(
                1,
                failure(FailureReason.ALREADY_EXISTS, 409),
                RequestPattern.any().verb(Verb.CREATE));
        start();
        createLease();
        time.advance(Duration.ofMillis(200));

        assertThat(server.count(Verb.UPDATE)).isEqualTo(1);
    }

    @Test
    void round_leaseDeletedByHand_isCreatedInTheSameRound(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed in 5 tries");
        createNode();
        start();
        server.cluster().deleteNow(stored());
        server.clearActions();
        time.advance(Duration.ofSeconds(10));

        assertThat(calls().subList(5, calls().size())).containsExactly("GET Lease", "GET Node", "CREATE Lease");
        assertThat(stored().getSpec().getRenewTime().toInstant())
                .isBetween(time.wallTime(), time.wallTime().plusMillis(1));
    }

    @Test
    void round_conflictAndThenGone_createsWithoutUpdating() {
        createNode();
        start();
        server.cluster().deleteNow(stored());
        server.clearActions();
        failUpdates(1, FailureReason.CONFLICT, 409);
        time.advance(Duration.ofSeconds(10));

        assertThat(calls()).containsExactly("UPDATE Lease", "GET Lease", "GET Node", "CREATE Lease");
    }

    @Test
    void round_nothingButConflicts_endsAfterFiveTries(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed in 5 tries");
        createNode();
        start();
        server.clearActions();
        failUpdates(10, FailureReason.CONFLICT, 409);
        time.advance(Duration.ofSeconds(10));

        assertThat(server.count(Verb.UPDATE)).isEqualTo(10);
        assertThat(repeatedFailures).hasValue(0);
        time.advance(Duration.ofSeconds(10));
        assertThat(stored().getSpec().getRenewTime().toInstant()).isEqualTo(time.wallTime());
    }

    // The loop

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
        leaks.allowWarnings("onRepeatedFailure failed");
        createNode();
        NodeLeaseOptions throwing = new NodeLeaseOptions("foo", DURATION, () -> {
            throw new IllegalStateException("a bug");
        });
        LeaseSync other = new LeaseSync(server.leaseApi(TIMEOUT), server.nodeApi(TIMEOUT), throwing, time);
        failUpdates(3, FailureReason.UNAVAILABLE, 0);

        assertThat(other.update(createLease()).join()).isTrue();
    }

    @Test
    void round_portThrows_isFollowedByAnother(NoLeaks leaks) {
        leaks.allowWarnings("asking again in");
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
    void stop_whileTheLeaseIsBeingCreated_itsFailureIsNoNews() {
        createNode();
        server.faults()
                .delay(
                        Duration.ofHours(1),
                        RequestPattern.any().verb(Verb.CREATE).resource(Resource.of(Lease.class)));
        start();

        controller.stopAsync().awaitTerminated();
        time.advance(Duration.ofMinutes(1));

        // and no warning, or NoLeaks would say so
        assertThat(calls()).containsExactly("GET Lease", "GET Node", "CREATE Lease");
    }

    @Test
    void stop_whileTheLeaseIsAskedFor_thatItFailsIsNoWarning() {
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

    private void start() {
        controller.startAsync().awaitRunning();
        time.advance(Duration.ZERO);
    }

    private long millisUntilNextCall() {
        int before = server.actions().size();
        long millis = 0;
        while (server.actions().size() == before && millis < 60_000) {
            time.advance(Duration.ofMillis(1));
            millis++;
        }
        return millis;
    }

    private String createNode() {
        return server.cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName("foo")
                        .endMetadata()
                        .build())
                .getMetadata()
                .getUid();
    }

    private Lease createLease() {
        return server.cluster()
                .create(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace("kube-node-lease")
                        .withName("foo")
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity("foo")
                        .withLeaseDurationSeconds(40)
                        .withRenewTime(time.wallTime().atZone(ZoneOffset.UTC))
                        .endSpec()
                        .build());
    }

    private Lease stored() {
        return server.cluster().get(Lease.class, "kube-node-lease", "foo");
    }

    private Lease known() {
        return Objects.requireNonNull(sync.latest());
    }

    private static String version(Lease lease) {
        return lease.getMetadata().getResourceVersion();
    }

    private List<String> calls() {
        return server.actions().stream()
                .map(action -> action.verb() + " " + action.kind())
                .toList();
    }

    private void failUpdates(int times, FailureReason reason, int code) {
        server.failNext(
                times,
                failure(reason, code),
                RequestPattern.any().verb(Verb.UPDATE).resource(Resource.of(ObjectKind.LEASE.model())));
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "told to fail with " + reason, null);
    }
}
