package dev.podcache.controlplane.leaderelection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaderElectorTest {

    private static final ObjectKey LEASE = ObjectKey.of("kube-system", "controllers");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Candidate a = new Candidate("a");
    private final Candidate b = new Candidate("b");

    /** Whether both led at once; asserted outside, because the elector catches what a listener throws. */
    private boolean bothLed;

    @AfterEach
    void close() {
        server.close();
        assertThat(bothLed).as("both led at the same time").isFalse();
    }

    /** A process with its own, cuttable way to the server. */
    private final class Candidate implements LeaderElector.LeadershipListener {

        final List<String> told = new ArrayList<>();
        final DelayedLeases leases;
        final LeaderElector elector;
        boolean leading;

        Candidate(String identity) {
            ObjectApi<Lease> api = server.api(ObjectKind.LEASE, Duration.ofSeconds(10));
            leases = new DelayedLeases(api, timekeeper);
            elector = new LeaderElector(leases, options(identity), this, timekeeper, () -> 0);
        }

        @Override
        public void startedLeading() {
            leading = true;
            told.add("started");
            bothLed |= a.leading && b.leading;
        }

        @Override
        public void stoppedLeading(String why) {
            leading = false;
            told.add("stopped: " + why);
        }

        @Override
        public void newLeader(String identity) {
            told.add("leader " + identity);
        }
    }

    private static LeaderElectionOptions options(String identity) {
        return new LeaderElectionOptions(
                LEASE, identity, Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2));
    }

    private LeaseSpec lease() {
        return server.cluster()
                .get(Lease.class, LEASE.namespace(), LEASE.name())
                .getSpec();
    }

    @Test
    void noLease_isCreated() {
        a.elector.start();

        assertThat(a.told).containsExactly("leader a", "started");
        assertThat(lease().getHolderIdentity()).isEqualTo("a");
        assertThat(lease().getLeaseDurationSeconds()).isEqualTo(15);
        assertThat(lease().getLeaseTransitions()).isZero();
        assertThat(lease().getAcquireTime()).isEqualTo(lease().getRenewTime());
    }

    @Test
    @ExpectedWarnings(
            "Lease kube-system/controllers could not be acquired: GET lease was answered 403; while that is refused")
    @ExtendWith(NoLeaks.class)
    void refused_isWarnedOfOnce_untilItLeads(NoLeaks leaks) {
        a.leases.refuse(true);
        a.elector.start();
        timekeeper.advance(Duration.ofSeconds(9));
        assertThat(leaks.warnings()).as("the server may have just started").isEmpty();
        timekeeper.advance(Duration.ofSeconds(30));
        assertThat(leaks.warnings()).hasSize(1);

        a.leases.refuse(false);
        timekeeper.advance(Duration.ofSeconds(5));
        assertThat(a.leading).isTrue();
        a.elector.stop();
    }

    @Test
    void leader_renewsAfterEachRetryPeriod_withOneRequest() {
        a.elector.start();
        server.clearActions();

        timekeeper.advance(Duration.ofSeconds(20));

        assertThat(server.count(Verb.UPDATE)).isEqualTo(10);
        assertThat(server.count(Verb.GET)).isZero();
        assertThat(lease().getRenewTime()).isAfter(lease().getAcquireTime());
    }

    @Test
    void secondCandidate_waits_andKnowsTheLeader() {
        a.elector.start();
        b.elector.start();

        timekeeper.advance(Duration.ofMinutes(5));

        assertThat(b.told).containsExactly("leader a");
    }

    @Test
    void leaderIsCutOff_stopsAfterTheDeadline_beforeTheOtherLeads() {
        a.elector.start();
        b.elector.start();
        timekeeper.advance(Duration.ofSeconds(21));

        a.leases.cut();
        timekeeper.advance(Duration.ofMillis(8_900));
        assertThat(a.leading).isTrue();
        timekeeper.advance(Duration.ofMillis(200));
        assertThat(a.leading).isFalse();
        assertThat(a.told).last().isEqualTo("stopped: Lease kube-system/controllers could not be renewed within 10 s");
        assertThat(b.leading).isFalse();
        timekeeper.advance(Duration.ofSeconds(8));

        assertThat(b.leading).isTrue();
        assertThat(lease().getLeaseTransitions()).isEqualTo(1);
    }

    @Test
    void formerLeaderIsBack_isACandidate() {
        a.elector.start();
        b.elector.start();
        a.leases.cut();
        timekeeper.advance(Duration.ofSeconds(30));

        a.leases.mend();
        timekeeper.advance(Duration.ofMinutes(5));

        assertThat(a.told).last().isEqualTo("leader b");
        assertThat(b.leading).isTrue();
    }

    @Test
    void leaderStops_tellsFirst_andGivesTheLeaseUp() {
        a.elector.start();
        b.elector.start();

        CompletableFuture<?> released = a.elector.stop();

        assertThat(released).isCompleted();
        assertThat(a.told).last().isEqualTo("stopped: this process ends");
        assertThat(lease().getHolderIdentity()).isNullOrEmpty();
        timekeeper.advance(Duration.ofSeconds(3));
        assertThat(b.leading).isTrue();
    }

    @Test
    void candidateStops_sendsNothingAnyMore() {
        a.elector.start();
        b.elector.start();
        assertThat(b.elector.stop()).isCompleted();
        a.elector.stop();
        server.clearActions();

        timekeeper.advance(Duration.ofMinutes(5));

        assertThat(server.actions()).isEmpty();
    }

    @Test
    void candidateStopsDuringItsRead_doesNotTakeTheLease() {
        a.leases.delayAnswers(Duration.ofSeconds(1));
        a.elector.start();
        assertThat(a.elector.stop()).isCompleted();

        timekeeper.advance(Duration.ofMinutes(1));

        assertThat(server.count(Verb.GET)).isEqualTo(1);
        assertThat(server.count(Verb.CREATE)).isZero();
        b.elector.start();
        assertThat(b.leading).isTrue();
    }

    @Test
    void candidateStopsDuringItsWrite_givesUpWhatItGets() {
        a.leases.delayRequests(Duration.ofSeconds(1));
        a.elector.start();
        timekeeper.advance(Duration.ofMillis(1_500));

        CompletableFuture<?> released = a.elector.stop();
        assertThat(released).isNotDone();
        timekeeper.advance(Duration.ofSeconds(10));

        assertThat(released).isCompleted();
        assertThat(server.count(Verb.CREATE)).isEqualTo(1);
        assertThat(lease().getHolderIdentity()).isNullOrEmpty();
        assertThat(a.told).isEmpty();
    }

    @Test
    void leaderStopsDuringARenewal_givesTheLeaseUpAfterIt() {
        a.elector.start();
        a.leases.delayRequests(Duration.ofSeconds(1));
        timekeeper.advance(Duration.ofSeconds(2));

        // the renewal would arrive between the read and the write of a release that did not wait for it
        a.leases.delayRequests(Duration.ZERO);
        a.leases.delayAnswers(Duration.ofSeconds(2));
        CompletableFuture<?> released = a.elector.stop();
        timekeeper.advance(Duration.ofSeconds(10));

        assertThat(released).isCompleted();
        assertThat(lease().getHolderIdentity()).isNullOrEmpty();
    }

    @Test
    void anotherProcessTakesTheLease_theLeaderStops() {
        a.elector.start();
        Lease stolen = server.cluster().get(Lease.class, LEASE.namespace(), LEASE.name());
        stolen.getSpec().setHolderIdentity("thief");
        server.cluster().update(stolen);

        timekeeper.advance(Duration.ofSeconds(5));

        assertThat(a.told)
                .containsExactly(
                        "leader a",
                        "started",
                        "leader thief",
                        "stopped: Lease kube-system/controllers is held by thief");
    }

    @Test
    void answerComesAfterTheDeadline_doesNotLead() {
        a.leases.delayAnswers(Duration.ofSeconds(11));

        a.elector.start();
        timekeeper.advance(Duration.ofSeconds(12));

        assertThat(a.leading).isFalse();
    }

    @Test
    void leaseIsDeleted_isCreatedAgain() {
        a.elector.start();
        server.cluster().delete(server.cluster().get(Lease.class, LEASE.namespace(), LEASE.name()));

        timekeeper.advance(Duration.ofSeconds(5));

        assertThat(a.leading).isTrue();
        assertThat(server.cluster()
                        .list(Resource.LEASES, Selection.everything(), "")
                        .items())
                .hasSize(1);
    }

    @Test
    @ExpectedWarnings("a listener of Lease kube-system/controllers threw")
    void listenerThrows_theLeaseIsRenewedNevertheless() {
        LeaderElector elector = new LeaderElector(
                a.leases,
                options("c"),
                new LeaderElector.LeadershipListener() {
                    @Override
                    public void startedLeading() {
                        throw new IllegalStateException("expected");
                    }

                    @Override
                    public void stoppedLeading(String why) {}

                    @Override
                    public void newLeader(String identity) {}
                },
                timekeeper,
                () -> 0);

        elector.start();
        timekeeper.advance(Duration.ofSeconds(20));

        assertThat(server.count(Verb.UPDATE)).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({
        "10, 10, 2, --leader-elect-lease-duration",
        "15, 2, 2, --leader-elect-renew-deadline",
        "15, 10, 0, --leader-elect-retry-period",
        "15, 10, 9, --leader-elect-renew-deadline"
    })
    void durationsThatDoNotFit_areRefused(int lease, int deadline, int retry, String flag) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LeaderElectionOptions(
                        LEASE, "a", Duration.ofSeconds(lease), Duration.ofSeconds(deadline), Duration.ofSeconds(retry)))
                .withMessageContaining(flag);
    }

    /** TestLeaderElectionConfigValidation. */
    @Test
    void emptyIdentity_isRefused() {
        assertThat(options("a").identity()).isEqualTo("a");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options(""))
                .withMessage("the identity of a candidate must not be empty");
    }

    @Test
    void partOfASecond_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LeaderElectionOptions(
                        LEASE, "a", Duration.ofMillis(1_500), Duration.ofMillis(900), Duration.ofMillis(100)))
                .withMessageContaining("but is 1.5 s");
    }

    @Test
    void moreSecondsThanALeaseHolds_areRefused() {
        Duration tooLong = Duration.ofSeconds(Integer.MAX_VALUE + 1L);

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        new LeaderElectionOptions(LEASE, "a", tooLong, Duration.ofSeconds(10), Duration.ofSeconds(2)))
                .withMessageContainingAll("--leader-elect-lease-duration", "at most 2147483647 s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LeaderElectionOptions(
                        LEASE, "a", tooLong, Duration.ofSeconds(Long.MAX_VALUE / 2), Duration.ofSeconds(2)))
                .withMessageContaining("at most 2147483647 s");
    }

    @Test
    void left_isTheLeaseDurationAfterTheLastRenewal_andNothingForACandidate() {
        assertThat(a.elector.left()).isZero();
        a.elector.start();
        b.elector.start();

        assertThat(a.elector.left()).isEqualTo(Duration.ofSeconds(15));
        assertThat(b.elector.left()).isZero();
        timekeeper.advance(Duration.ofMillis(1_500));
        assertThat(a.elector.left()).isEqualTo(Duration.ofMillis(13_500));
        a.leases.cut();
        timekeeper.advance(Duration.ofMillis(8_499));
        assertThat(a.elector.left()).isEqualTo(Duration.ofMillis(5_001));
        timekeeper.advance(Duration.ofMillis(1));
        assertThat(a.elector.left()).as("no leader any more").isZero();
    }

    @Test
    void confirm_readsTheLeaseLive_andStopsALeaderThatDoesNotHoldIt() {
        a.elector.start();
        assertThat(a.elector.confirm()).isCompletedWithValue(true);

        Lease held = server.cluster().get(Lease.class, LEASE.namespace(), LEASE.name());
        held.getSpec().setHolderIdentity("c");
        server.cluster().update(held);

        assertThat(a.elector.confirm()).isCompletedWithValue(false);
        assertThat(a.told).endsWith("leader c", "stopped: Lease kube-system/controllers is held by c");
        assertThat(a.elector.left()).isZero();
        timekeeper.advance(Duration.ofSeconds(20));
        assertThat(a.leading).as("after the other one was silent").isTrue();
    }
}
