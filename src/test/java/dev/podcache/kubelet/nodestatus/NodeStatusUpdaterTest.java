package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The whole updater: TestUpdateNodeStatusWithLease, TestUpdateNodeStatusError and TestUpdateExistingNodeStatusTimeout
 * of the kubelet, with a first read that costs no request, as in newer versions.
 */
@ExtendWith(NoLeaks.class)
class NodeStatusUpdaterTest {

    private static final RequestPattern PATCHES = RequestPattern.any().verb(Verb.PATCH);
    private static final RequestPattern GETS = RequestPattern.any().verb(Verb.GET);

    private final UpdaterFixture fixture = new UpdaterFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    // Reports and their times

    @Test
    void sync_upstreamTable_reportsChangesAndDueReports() {
        fixture.server.cluster().create(Nodes.empty());
        fixture.updater(options -> options.registerNode(false).reportFrequency(Duration.ofMinutes(1)))
                .start();

        // (a) the first report
        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        assertThat(fixture.node().getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .containsExactly("MemoryPressure", "DiskPressure", "PIDPressure", "Ready");
        assertThat(fixture.node().getStatus().getCapacity()).isEqualTo(Nodes.quantities("cpu", "2", "memory", "20e9"));
        assertThat(fixture.node().getStatus().getAllocatable())
                .isEqualTo(Nodes.quantities("cpu", "1800m", "memory", "19900e6"));
        NodeCondition first = fixture.condition("Ready");

        // (b) no change until a report is due, which then has only heartbeats
        fixture.server.clearActions();
        fixture.time.advance(UpdaterFixture.SYNC.multipliedBy(5));
        assertThat(fixture.calls()).isEmpty();
        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        assertThat(lastPatch()).doesNotContain("capacity", "lastTransitionTime");
        assertThat(fixture.condition("Ready").getLastHeartbeatTime()).isGreaterThan(first.getLastHeartbeatTime());
        assertThat(fixture.condition("Ready").getLastTransitionTime()).isEqualTo(first.getLastTransitionTime());

        // (c) no change, no report due
        assertThat(callsOfNextSync()).isEmpty();

        // (d) more memory
        fixture.memory = "40e9";
        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
        assertThat(fixture.node().getStatus().getCapacity()).isEqualTo(Nodes.quantities("cpu", "2", "memory", "40e9"));
        assertThat(fixture.condition("Ready").getLastTransitionTime()).isEqualTo(first.getLastTransitionTime());

        // (e) pod CIDRs, (f) the same pod CIDRs again
        fixture.server.cluster().update(withPodCidrs());
        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
        assertThat(callsOfNextSync()).isEmpty();
    }

    private Node withPodCidrs() {
        return new NodeBuilder(fixture.node())
                .editSpec()
                .withPodCIDRs("10.0.0.0/24", "2000::/10")
                .endSpec()
                .build();
    }

    /** TestUpdateNodeStatusAndVolumesInUseWithNodeLease, with a setter of its own: the agent reports no volumes. */
    @ParameterizedTest
    @CsvSource({"'', '', false", "vol1, vol1, false", "vol1, '', true", "'', vol1, true"})
    void sync_volumesInUse_areReportedIfTheyDiffer(String reported, String inUse, boolean patched) {
        Set<String> volumes = new HashSet<>(split(reported));
        fixture.updater(options ->
                        options.setters(List.of((node, now) -> node.getStatus().setVolumesInUse(List.copyOf(volumes)))))
                .start();
        fixture.time.advance(UpdaterFixture.REGISTERED);

        volumes.clear();
        volumes.addAll(split(inUse));

        assertThat(callsOfNextSync()).isEqualTo(patched ? List.of(Verb.PATCH) : List.of());
        assertThat(fixture.node().getStatus().getVolumesInUse()).isEqualTo(split(inUse));
    }

    private static List<String> split(String names) {
        return Splitter.on(',').omitEmptyStrings().splitToList(names);
    }

    @Test
    void start_noNode_createsItWithItsStatusAndReportsOnce() {
        fixture.updater().start();
        fixture.time.advance(UpdaterFixture.REGISTERED);

        assertThat(fixture.calls()).containsExactly(Verb.CREATE, Verb.PATCH);
        assertThat(fixture.server.sent().get(0).body()).contains("\"Ready\"", "\"capacity\"");
    }

    @Test
    void start_afterARestart_reportsThoughNothingChanged() {
        fixture.started().close();
        String uid = fixture.node().getMetadata().getUid();

        fixture.updater().start();
        fixture.time.advance(UpdaterFixture.REGISTERED);

        assertThat(fixture.calls()).containsExactly(Verb.CREATE, Verb.GET, Verb.PATCH);
        assertThat(fixture.node().getMetadata().getUid()).isEqualTo(uid);
    }

    @Test
    void sync_anHourWithoutNews_makesNoRequestsButReports() {
        fixture.started();

        fixture.time.advance(Duration.ofHours(1));

        // each with the 30th sync, the first one after 5 min
        assertThat(fixture.calls()).isEqualTo(Collections.nCopies(11, Verb.PATCH));
    }

    @Test
    void sync_labelOfPlatformChangedByHand_repairsIt() {
        fixture.started();
        fixture.server
                .cluster()
                .update(new NodeBuilder(fixture.node())
                        .editMetadata()
                        .addToLabels("kubernetes.io/arch", "s390x")
                        .removeFromLabels("kubernetes.io/os")
                        .endMetadata()
                        .build());

        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
        assertThat(fixture.node().getMetadata().getLabels())
                .containsAllEntriesOf(Map.of("kubernetes.io/arch", "amd64", "kubernetes.io/os", "linux"));
    }

    @Test
    void sync_setterThatChangesTheNode_leavesTheListersAlone(NoLeaks leaks) {
        fixture.started();
        leaks.watchForMutation(fixture.lister.get().orElseThrow());
        fixture.memory = "40e9";

        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
    }

    @Test
    void sync_changedByOthersMeanwhile_keepsTheirs() {
        fixture.started();
        fixture.server.cluster().holdWatchCache();
        fixture.server
                .cluster()
                .update(new NodeBuilder(fixture.node())
                        .editMetadata()
                        .addToLabels("by", "others")
                        .endMetadata()
                        .build());
        fixture.memory = "40e9";

        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
        assertThat(fixture.node().getMetadata().getLabels()).containsEntry("by", "others");
    }

    // On demand

    @Test
    void syncSoon_betweenSyncs_syncsAtOnceAndOnlyOnce() {
        NodeStatusUpdater updater = fixture.started();
        int before = fixture.computed;
        fixture.memory = "40e9";

        updater.syncSoon();
        updater.syncSoon();
        fixture.time.advance(Duration.ZERO);

        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        assertThat(fixture.computed).isEqualTo(before + 1);
        fixture.time.advance(UpdaterFixture.SYNC.minusMillis(1));
        assertThat(fixture.computed).isEqualTo(before + 1);
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(fixture.computed).isEqualTo(before + 2);
    }

    @Test
    void syncSoon_duringASync_syncsOnceMore() {
        NodeStatusUpdater updater = fixture.started();
        HeldRequests patch = fixture.server.faults().holdNext(1, PATCHES);
        fixture.memory = "40e9";
        updater.syncSoon();
        fixture.time.advance(Duration.ZERO);

        fixture.memory = "60e9";
        updater.syncSoon();
        updater.syncSoon();
        fixture.time.advance(Duration.ZERO);
        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        patch.release();
        fixture.time.advance(Duration.ZERO);

        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.PATCH);
        assertThat(fixture.node().getStatus().getCapacity()).containsAllEntriesOf(Nodes.quantities("memory", "60e9"));
    }

    @Test
    void syncSoon_beforeTheStart_doesNothing() {
        fixture.updater().syncSoon();
        fixture.time.advance(Duration.ofMinutes(1));

        assertThat(fixture.computed).isZero();
    }

    @Test
    void start_twice_isOnce() {
        NodeStatusUpdater updater = fixture.updater();
        updater.start();
        updater.start();
        fixture.time.advance(UpdaterFixture.REGISTERED);

        assertThat(fixture.calls()).containsExactly(Verb.CREATE, Verb.PATCH);
    }

    // Failures

    @Test
    @ExpectedWarnings("status of Node worker-1 was not reported: ")
    void sync_noNodeAndNoRegistration_triesFiveTimes() {
        NodeStatusUpdater updater = fixture.updater(options -> options.registerNode(false));
        updater.start();

        // the first of the five reads is the lister's
        assertThat(fixture.calls()).isEqualTo(Collections.nCopies(4, Verb.GET));
        assertThat(fixture.repeatedFailures).isEqualTo(4);
        assertThat(updater.state().registered()).isFalse();
        assertThat(updater.state().problem())
                .hasValueSatisfying(why -> assertThat(why).contains("404"));
    }

    @Test
    @ExpectedWarnings("status of Node worker-1 was not reported: ")
    void sync_serverThatHangs_givesUpAfterFiveTimeoutsAndTellsFromTheSecondOn() {
        fixture.started();
        fixture.server.faults().hold(PATCHES);
        fixture.server.faults().hold(GETS);
        fixture.memory = "40e9";
        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(fixture.repeatedFailures).isZero();

        fixture.time.advance(UpdaterFixture.TIMEOUT.multipliedBy(5));

        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.GET, Verb.GET, Verb.GET, Verb.GET);
        assertThat(fixture.repeatedFailures).isEqualTo(4);
        fixture.server.faults().clear();
        fixture.memory = "60e9";
        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH);
    }

    @Test
    void sync_firstTryFails_readsFromTheServerForTheSecond() {
        fixture.started();
        fixture.server.failNext(1, UpdaterFixture.failure(FailureReason.CONFLICT), PATCHES);
        fixture.memory = "40e9";

        assertThat(callsOfNextSync()).containsExactly(Verb.PATCH, Verb.GET, Verb.PATCH);
        assertThat(fixture.repeatedFailures).isZero();
    }

    @Test
    @ExpectedWarnings("onRepeatedFailure of Node worker-1 threw")
    void sync_listenerOfFailuresThatThrows_isLoggedAndTriedOn() {
        fixture.updater(options -> options.onRepeatedFailure(() -> {
                    throw new IllegalStateException("broken listener");
                }))
                .start();
        fixture.time.advance(UpdaterFixture.REGISTERED);
        fixture.server.failNext(2, UpdaterFixture.failure(FailureReason.UNAVAILABLE), PATCHES);
        fixture.memory = "40e9";

        fixture.time.advance(UpdaterFixture.SYNC);

        assertThat(fixture.node().getStatus().getCapacity()).containsAllEntriesOf(Nodes.quantities("memory", "40e9"));
    }

    @Test
    @ExpectedWarnings("its part of the status is stale")
    void sync_setterThatThrows_othersAreReportedAllTheSame() {
        NodeStatusSetter broken = (node, now) -> {
            node.getStatus().setPhase("half done");
            throw new IllegalStateException("no facts");
        };
        fixture.updater(options -> options.setters(
                        List.of(broken, (node, now) -> node.getStatus().setCapacity(Nodes.quantities("cpu", "3")))))
                .start();
        fixture.time.advance(UpdaterFixture.REGISTERED.plus(UpdaterFixture.SYNC));

        assertThat(fixture.node().getStatus().getPhase()).isEqualTo("half done");
        assertThat(fixture.node().getStatus().getCapacity()).isEqualTo(Nodes.quantities("cpu", "3"));
    }

    @Test
    @ExpectedWarnings({"was not reported: ", "readiness check of Node worker-1 failed"})
    void sync_errorInASetter_doesNotEndTheLoop() {
        fixture.server.cluster().create(Nodes.notReady(fixture.time.wallTime()));
        boolean[] broken = {true};
        NodeStatusUpdater updater =
                fixture.updater(options -> options.registerNode(false).setters(List.of((node, now) -> {
                    if (broken[0]) {
                        throw new Error("broken setter");
                    }
                    node.getStatus().setPhase("well");
                })));
        updater.start();
        assertThat(updater.state().problem()).contains("java.lang.Error: broken setter");

        broken[0] = false;
        fixture.time.advance(UpdaterFixture.SYNC);

        assertThat(fixture.node().getStatus().getPhase()).isEqualTo("well");
        assertThat(updater.state().problem()).isEmpty();
    }

    @Test
    @ExpectedWarnings({"was not reported: ", "watch of Node worker-1 failed; retrying"})
    void sync_serverDownForAMinute_goesOnAfterwards() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.resetWatches();
        fixture.server.faults().refuse(RequestPattern.any());
        fixture.memory = "40e9";
        fixture.time.advance(Duration.ofMinutes(1));
        assertThat(updater.state().problem()).isPresent();
        assertThat(updater.state().registered()).isTrue();

        fixture.server.faults().clear();
        fixture.time.advance(UpdaterFixture.SYNC);

        assertThat(fixture.node().getStatus().getCapacity()).containsAllEntriesOf(Nodes.quantities("memory", "40e9"));
        assertThat(updater.state().problem()).isEmpty();
    }

    @Test
    @ExpectedWarnings("Node worker-1 was not registered: answered UNAVAILABLE")
    void registration_serverDownAtTheStart_showsInTheState() {
        fixture.server.failNext(
                3,
                UpdaterFixture.failure(FailureReason.UNAVAILABLE),
                RequestPattern.any().verb(Verb.CREATE));
        NodeStatusUpdater updater = fixture.updater();
        updater.start();
        assertThat(updater.state()).isEqualTo(new NodeStatusState(false, Optional.empty(), Optional.empty()));

        fixture.time.advance(UpdaterFixture.REGISTERED);
        assertThat(updater.state())
                .isEqualTo(new NodeStatusState(false, Optional.empty(), Optional.of("answered UNAVAILABLE")));

        fixture.time.advance(Duration.ofSeconds(2));
        assertThat(updater.state().registered()).isTrue();
        assertThat(updater.state().problem()).isEmpty();
        assertThat(updater.state().lastReport())
                .hasValueSatisfying(time ->
                        assertThat(time).isBetween(fixture.time.wallTime().minusSeconds(2), fixture.time.wallTime()));
    }

    // Deleted Nodes

    @Test
    @ExpectedWarnings("Node worker-1 was deleted, so it is neither registered nor reported any more")
    void sync_nodeDeletedByHand_staysDeletedAndCostsNoFurtherRequest() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.cluster().deleteNow(fixture.node());

        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(updater.state().registered()).isFalse();
        assertThat(updater.state().problem()).hasValue("Node worker-1 was deleted");
        assertThat(fixture.calls()).containsExactly(Verb.GET);
        fixture.time.advance(Duration.ofMinutes(10));

        assertThat(fixture.calls()).containsExactly(Verb.GET);
        assertThat(updater.state().problem()).hasValue("Node worker-1 was deleted");
    }

    @Test
    @ExpectedWarnings("was deleted, so it is neither registered nor reported")
    void sync_deletedNodeIsCreatedByAnother_isReportedAgain() {
        NodeStatusUpdater updater = fixture.started();
        fixture.server.cluster().deleteNow(fixture.node());
        fixture.time.advance(UpdaterFixture.SYNC);

        fixture.server.cluster().create(Nodes.initial().build().toNode());
        fixture.time.advance(UpdaterFixture.SYNC);

        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
        assertThat(updater.state().registered()).isTrue();
        assertThat(updater.state().problem()).isEmpty();
    }

    @Test
    @ExpectedWarnings("Node worker-1 was deleted; registering it again")
    void sync_nodeDeletedByHand_registersItAgain() {
        NodeStatusUpdater updater = fixture.started(options -> options.registerAgain(true));
        String uid = fixture.node().getMetadata().getUid();
        fixture.server.cluster().deleteNow(fixture.node());

        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(updater.state().registered()).isFalse();
        fixture.time.advance(UpdaterFixture.REGISTERED);

        assertThat(fixture.calls()).containsExactly(Verb.GET, Verb.CREATE, Verb.PATCH);
        assertThat(fixture.node().getMetadata().getUid()).isNotEqualTo(uid);
        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
        assertThat(updater.state().registered()).isTrue();
    }

    @Test
    @ExpectedWarnings("Node worker-1 was deleted; registering it again")
    void sync_nodeDeletedByHandAndTheListerBehind_registersItAgainAtTheNextReport() {
        fixture.started(options -> options.registerAgain(true));
        fixture.server.cluster().holdWatchCache();
        fixture.server.cluster().deleteNow(fixture.node());
        fixture.memory = "40e9";

        fixture.time.advance(UpdaterFixture.SYNC.plus(UpdaterFixture.REGISTERED));

        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.CREATE, Verb.PATCH);
        assertThat(fixture.node().getStatus().getCapacity()).containsAllEntriesOf(Nodes.quantities("memory", "40e9"));
    }

    @Test
    @ExpectedWarnings({"registering it again", "was not reported: "})
    void sync_nodeDeletedAgainAndAgain_registersOnceASync() {
        fixture.started(options -> options.registerAgain(true));
        fixture.server.cluster().deleteNow(fixture.node());
        fixture.server.failNext(100, UpdaterFixture.failure(FailureReason.NOT_FOUND), PATCHES);

        fixture.time.advance(UpdaterFixture.SYNC.plus(UpdaterFixture.REGISTERED));
        assertThat(fixture.calls()).containsExactly(Verb.GET, Verb.CREATE, Verb.PATCH);

        fixture.server.clearActions();
        fixture.time.advance(UpdaterFixture.SYNC.minusMillis(1));
        assertThat(fixture.calls()).isEmpty();
    }

    // Options

    @Test
    void new_listerOfAnotherNode_isRefused() {
        NodeStatusOptions other = NodeStatusOptions.builder(
                        InitialNode.builder("worker-2", "linux", "amd64").build())
                .build();

        assertThatThrownBy(() -> new NodeStatusUpdater(fixture.api, fixture.lister, fixture.time, other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("worker-1")
                .hasMessageContaining("worker-2");
    }

    @Test
    void options_noPeriod_isRefused() {
        assertThatThrownBy(() -> fixture.options().updateFrequency(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("updateFrequency must be positive, but is 0s");
        assertThatThrownBy(() -> fixture.options().reportFrequency(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("reportFrequency must be positive, but is -1s");
    }

    private List<Verb> callsOfNextSync() {
        fixture.server.clearActions();
        fixture.time.advance(UpdaterFixture.SYNC);
        return fixture.calls();
    }

    private String lastPatch() {
        return fixture.server.sent().get(fixture.server.sent().size() - 1).body();
    }
}
