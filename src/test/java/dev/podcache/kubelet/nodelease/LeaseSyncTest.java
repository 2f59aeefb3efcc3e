package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Single rounds. Contains the cases of upstream's TestRetryUpdateNodeLease and TestUpdateUsingLatestLease.
 */
class LeaseSyncTest extends LeaseFixture {

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
    void renewSoon_nodeCreatedAfterARound_createsTheLeaseAtOnce() {
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
        leaks.allowWarnings("reading or creating the Lease of Node foo failed");
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
        leaks.allowWarnings("the Lease of Node foo could not be renewed in 5 tries");
        createNode();
        failUpdates(5, FailureReason.TIMEOUT, 504);

        assertThat(sync.update(createLease()).join()).isFalse();
        assertThat(server.count(Verb.UPDATE)).isEqualTo(5);
        assertThat(repeatedFailures).hasValue(4);
    }

    @Test
    void round_renewalsFailForLong_warnsOnceForEachOutage(NoLeaks leaks) {
        leaks.allowWarnings("could not be renewed in 5 tries");
        createNode();
        start();
        for (int outage = 1; outage <= 2; outage++) {
            failUpdates(Integer.MAX_VALUE, FailureReason.UNAVAILABLE, 503);
            time.advance(Duration.ofMinutes(2));

            assertThat(leaks.warnings()).hasSize(outage);

            server.clearFailures();
            time.advance(Duration.ofSeconds(10));
        }
    }

    @Test
    void update_timeoutThenConflictThenSuccess_readsAgainAndDoesNotNotify() {
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

    // Ensuring

    @Test
    void ensure_serverAway_pausesDoubleUpToSevenSeconds(NoLeaks leaks) {
        leaks.allowWarnings("reading or creating the Lease");
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
        leaks.allowWarnings("reading or creating the Lease");
        createNode();
        server.failNext(Integer.MAX_VALUE, failure(FailureReason.UNAVAILABLE, 0));
        start();
        time.advance(Duration.ofDays(1));

        server.clearFailures();
        time.advance(Duration.ofSeconds(7));

        assertThat(stored().getSpec().getHolderIdentity()).isEqualTo("foo");
    }

    @Test
    void ensure_anotherClientCreatesTheLease_usesIt(NoLeaks leaks) {
        leaks.allowWarnings("retrying in 200 ms");
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
}
