package dev.podcache.controlplane.leaderelection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cases of client-go's leaderelection_test.go: the Lease that a candidate finds, and the one that a leader gives up. */
class LeaseTakeoverTest {

    private static final ObjectKey LEASE = ObjectKey.of("kube-system", "controllers");
    private static final LeaderElectionOptions OPTIONS = new LeaderElectionOptions(
            LEASE, "baz", Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2));

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final DelayedLeases leases =
            new DelayedLeases(server.api(ObjectKind.LEASE, Duration.ofSeconds(10)), timekeeper);
    private final List<String> told = new ArrayList<>();
    private final LeaderElector elector =
            new LeaderElector(leases, OPTIONS, new RecordedLeadership(), timekeeper, () -> 0);

    private final class RecordedLeadership implements LeaderElector.LeadershipListener {

        @Override
        public void startedLeading() {
            told.add("started");
        }

        @Override
        public void stoppedLeading(String why) {
            told.add("stopped");
        }

        @Override
        public void newLeader(String identity) {
            told.add("leader " + identity);
        }
    }

    @AfterEach
    void close() {
        server.close();
    }

    private LeaseSpec lease() {
        return server.cluster()
                .get(Lease.class, LEASE.namespace(), LEASE.name())
                .getSpec();
    }

    private void fail(int times, Verb verb, FailureReason reason) {
        server.failNext(
                times,
                new ApiServerException(reason, 409, null, "planned", null),
                RequestPattern.any().verb(verb));
    }

    private List<Verb> requests() {
        return server.actions().stream().map(FakeApiServer.Action::verb).toList();
    }

    /** testTryAcquireOrRenew: "-" is a field that the Lease does not have. */
    @ParameterizedTest(name = "held by {0} for {1} s, after {2} s")
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, 0, true, 1",
                "'', -, 0, true, 1",
                "'', 15, 0, true, 1",
                "bing, 3, 2, false, 0",
                "bing, 3, 4, true, 1",
                "bing, -, 14, false, 0",
                "bing, -, 16, true, 1",
                "bing, 0, 14, false, 0",
                "bing, 10, 0, false, 0",
                "baz, 10, 0, true, 0"
            })
    void leaseIsFound_isTakenUnlessAnotherProcessHoldsIt(
            @Nullable String holder, @Nullable Integer seconds, int waited, boolean taken, int transitions) {
        server.cluster()
                .create(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace(LEASE.namespace())
                        .withName(LEASE.name())
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity(holder)
                        .withLeaseDurationSeconds(seconds)
                        .endSpec()
                        .build());

        elector.start();
        timekeeper.advance(Duration.ofSeconds(waited));

        assertThat(told.contains("started")).isEqualTo(taken);
        assertThat(told)
                .filteredOn(call -> call.startsWith("leader"))
                .last()
                .isEqualTo(taken ? "leader baz" : "leader bing");
        assertThat(lease().getHolderIdentity()).isEqualTo(taken ? "baz" : holder);
        assertThat(lease().getLeaseTransitions()).isEqualTo(taken ? (Integer) transitions : null);
        assertThat(server.count(Verb.UPDATE)).isEqualTo(taken ? 1 : 0);
        assertThat(server.count(Verb.CREATE)).isZero();
    }

    /** Anybody who may write the Lease could otherwise end the elections: the API server refuses a negative number. */
    @ParameterizedTest
    @CsvSource({"2147483647, 2147483647", "2147483646, 2147483647", "-1, 0", "-2147483648, -2147483647"})
    void leaseHasExtremeNumbers_isTaken(int before, int after) {
        server.cluster()
                .create(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace(LEASE.namespace())
                        .withName(LEASE.name())
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity("")
                        .withLeaseDurationSeconds(before)
                        .withLeaseTransitions(before)
                        .endSpec()
                        .build());

        elector.start();

        assertThat(told).contains("started");
        assertThat(lease().getLeaseTransitions()).isEqualTo(after);
    }

    /** TestFastPathLeaderElection. */
    @Test
    void renewalConflicts_theNextTryReadsFirst() {
        elector.start();
        timekeeper.advance(Duration.ofSeconds(2));
        fail(1, Verb.UPDATE, FailureReason.CONFLICT);

        timekeeper.advance(Duration.ofSeconds(6));

        assertThat(requests())
                .containsExactly(Verb.GET, Verb.CREATE, Verb.UPDATE, Verb.UPDATE, Verb.GET, Verb.UPDATE, Verb.UPDATE);
        assertThat(told).containsExactly("leader baz", "started");
    }

    /** TestReleaseOnCancellation: the leader stops while it reads. */
    @Test
    void leaderStopsDuringTheReadAfterAFailedRenewal_givesTheLeaseUp() {
        elector.start();
        fail(1, Verb.UPDATE, FailureReason.TIMEOUT);
        timekeeper.advance(Duration.ofSeconds(2));
        leases.delayAnswers(Duration.ofSeconds(5));
        timekeeper.advance(Duration.ofSeconds(2));
        assertThat(requests()).endsWith(Verb.UPDATE, Verb.GET);
        leases.delayAnswers(Duration.ZERO);

        CompletableFuture<?> released = elector.stop();
        timekeeper.advance(Duration.ofMinutes(1));

        assertThat(released).isCompleted();
        assertThat(lease().getHolderIdentity()).isEmpty();
        assertThat(told).containsExactly("leader baz", "started", "stopped");
    }

    /** TestReleaseMethodCallsGet and TestReleaseRetriesOnConflict. */
    @Test
    void releaseConflicts_isRepeated() {
        elector.start();
        server.clearActions();
        fail(1, Verb.UPDATE, FailureReason.CONFLICT);

        CompletableFuture<?> released = elector.stop();

        assertThat(released).isCompleted();
        assertThat(requests()).containsExactly(Verb.GET, Verb.UPDATE, Verb.GET, Verb.UPDATE);
        assertThat(lease().getHolderIdentity()).isEmpty();
        assertThat(lease().getLeaseDurationSeconds()).isEqualTo(1);
    }

    @Test
    void releaseConflictsEachTime_ends() {
        elector.start();
        fail(100, Verb.UPDATE, FailureReason.CONFLICT);

        assertThat(elector.stop()).isCompleted();

        assertThat(server.count(Verb.UPDATE)).isEqualTo(5);
        assertThat(lease().getHolderIdentity()).isEqualTo("baz");
    }
}
