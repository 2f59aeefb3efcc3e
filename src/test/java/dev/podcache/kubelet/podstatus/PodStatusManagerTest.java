package dev.podcache.kubelet.podstatus;

import static dev.podcache.embedded.Verb.GET;
import static dev.podcache.embedded.Verb.PATCH;
import static dev.podcache.kubelet.podstatus.Given.LONG_AGO;
import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.since;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static dev.podcache.kubelet.podstatus.Given.withStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.common.testing.NullPointerTester;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The cases of upstream's status_manager_test.go without failing requests, under upstream's names where they exist.
 */
@ExtendWith(NoLeaks.class)
class PodStatusManagerTest extends PodStatusManagerFixture {

    private static final String EPOCH = "2026-01-01T00:00:00Z";

    // TestNewStatus*

    @Test
    void newStatus_isReportedWithAStartTime() {
        manager.setPodStatus(pod, status("Running", running("c1")));
        world.sync();

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(world.held(pod).getStartTime()).isEqualTo(EPOCH);
        assertThat(world.storedStatus("cart").getStartTime()).isEqualTo(EPOCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    void newStatusPreservesPodStartTime() {
        PodStatus before = status("Pending");
        before.setStartTime(LONG_AGO);

        manager.setPodStatus(withStatus(pod, before), status("Running"));

        assertThat(world.held(pod).getStartTime()).isEqualTo(LONG_AGO);
    }

    @Test
    void newStatusSetsReadyTransitionTime() {
        manager.setPodStatus(pod, ready("True"));

        assertThat(world.held(pod).getConditions())
                .extracting(PodCondition::getLastTransitionTime)
                .containsExactly(EPOCH);
    }

    // TestChangedStatus*

    @Test
    void changedStatus_beforeTheTurn_isReportedOnce() {
        manager.setPodStatus(pod, status("Pending"));
        manager.setPodStatus(pod, status("Running"));
        world.sync();

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    void changedStatusKeepsStartTime() {
        manager.setPodStatus(pod, status("Pending"));
        world.time.advance(Duration.ofMillis(5500));
        PodStatus later = status("Running");
        later.setStartTime("2026-01-01T00:00:05Z");
        manager.setPodStatus(pod, later);

        assertThat(world.held(pod).getStartTime()).isEqualTo(EPOCH);
    }

    @Test
    void changedStatusUpdatesLastTransitionTime() {
        manager.setPodStatus(pod, ready("True"));
        world.time.advance(Duration.ofSeconds(5));
        manager.setPodStatus(pod, ready("False"));

        assertThat(world.held(pod).getConditions().get(0).getLastTransitionTime())
                .isEqualTo("2026-01-01T00:00:05Z");
    }

    @Test
    void changedStatus_whileAReportIsUnderWay_isReportedAfterIt() {
        var held = world.server.holdNext(PodStatusFixture.key("cart"));
        manager.setPodStatus(pod, status("Pending", waiting("c1")));
        world.sync();
        manager.setPodStatus(pod, status("Running", running("c1")));
        world.sync();
        assertThat(world.requests()).containsExactly(GET);

        held.release();
        world.sync();

        assertThat(world.requests()).containsExactly(PATCH, GET, PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    // TestUnchangedStatus*

    @Test
    void unchangedStatus_isNotReportedAgain() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.requests();

        manager.setPodStatus(pod, ready("True"));
        world.sync();

        assertThat(world.requests()).isEmpty();
    }

    @Test
    void unchangedStatusPreservesLastTransitionTime() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.time.advance(Duration.ofSeconds(5));
        world.requests();

        manager.setPodStatus(pod, withConditions(ready("True"), since(condition("Ready", "True"), LONG_AGO)));
        world.sync();

        assertThat(world.requests()).isEmpty();
        assertThat(world.held(pod).getConditions().get(0).getLastTransitionTime())
                .isEqualTo(EPOCH);
    }

    @Test
    void staleUpdates_areReportedOnceAndThenNotAgain() {
        for (String message : new String[] {"initial", "second", "third"}) {
            PodStatus status = ready("True");
            status.setMessage(message);
            manager.setPodStatus(pod, status);
        }
        world.sync();
        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(world.storedStatus("cart").getMessage()).isEqualTo("third");

        manager.setPodStatus(pod, world.held(pod));
        world.sync();
        assertThat(world.requests()).isEmpty();
    }

    @Test
    void setPodStatus_sameStatusForAnOldServerState_isLookedAtAndNotPatched() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.requests();

        // the watch has not delivered the pod since then, so the full pass considers it changed
        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).containsExactly(GET);
    }

    @Test
    void setPodStatus_ofAPodThatIsBeingDeleted_isAlwaysLookedAt() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.server.cluster().delete(pod);
        world.watch();
        // the deletion has raised the generation, which the status observes
        manager.setPodStatus(world.stored("cart"), ready("True"));
        world.sync();
        assertThat(world.requests()).containsSubsequence(GET, PATCH);

        manager.setPodStatus(world.stored("cart"), ready("True"));
        world.sync();

        assertThat(world.requests()).containsExactly(GET);
    }

    @Test
    @ExpectedWarnings("container c1 has terminated and cannot come back")
    void setPodStatus_thatUndoesAnEnd_isNotTaken() {
        Pod once = world.create("job", spec("Never", "c1"));
        manager.setPodStatus(once, status("Running", ended("c1", 1)));
        manager.setPodStatus(once, status("Running", running("c1")));

        assertThat(world.held(once).getContainerStatuses().get(0).getState().getTerminated())
                .isNotNull();
    }

    @Test
    @ExpectedWarnings("its phase is Failed and cannot become Running")
    void setPodStatus_lateOneAfterTheEnd_isNotTaken() {
        manager.setPodStatus(pod, ready("True"));
        manager.terminatePod(pod);
        manager.setPodStatus(pod, ready("True"));
        world.sync();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Failed");
    }

    @Test
    void setPodStatus_foreignCondition_staysAsTheServerHasIt() {
        Pod stored = world.stored("cart");
        world.server
                .cluster()
                .updateStatus(
                        withStatus(stored, withConditions(stored.getStatus(), condition("shop.example/warm", "True"))));

        manager.setPodStatus(pod, withConditions(ready("True"), condition("shop.example/warm", "False")));
        manager.setPodStatus(pod, ready("True"));
        world.sync();

        assertThat(world.storedStatus("cart").getConditions())
                .extracting(PodCondition::getType, PodCondition::getStatus)
                .containsExactlyInAnyOrder(tuple("shop.example/warm", "True"), tuple("Ready", "True"));
    }

    @Test
    void setPodStatus_whatItIsGiven_isNeitherModifiedNorKept(NoLeaks leaks) {
        PodStatus status = ready("True");
        leaks.watchForMutation(pod);
        manager.setPodStatus(pod, status);
        status.setPhase("Failed");
        world.held(pod).setPhase("Failed");
        world.sync();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    // TestSyncBatchCleanupVersions, TestReconcilePodStatus

    @Test
    void reconcilePodStatus_podAsReported_makesNoRequest() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.watch();
        world.requests();

        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).isEmpty();
    }

    @Test
    void reconcilePodStatus_onlyFractionsOfASecondDiffer_makesNoRequest() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.watch();
        Pod fractional = world.stored("cart");
        fractional.getStatus().setStartTime("2026-01-01T00:00:00.123Z");
        world.known.put(uid, fractional);
        world.requests();

        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).isEmpty();
    }

    @Test
    void reconcilePodStatus_podThatSomebodyElseChanged_isReportedAgain() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.watch();
        // a pass that finds the pod as reported
        world.time.advance(PodStatusSync.FULL_PASS);
        world.server.cluster().updateStatus(withStatus(world.stored("cart"), ready("False")));
        world.watch();
        world.requests();

        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(readyOf(world.storedStatus("cart"))).isEqualTo("True");
    }

    // TestSetContainerReadiness

    @Test
    void setHealth_isReportedWithTheConditions_ifItChanges() {
        manager.setHealth(pod, container -> container.setReady(false));
        assertThat(manager.hasStatus(uid)).isFalse();
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.requests();

        manager.setHealth(pod, container -> container.setReady(false));
        world.sync();
        manager.setHealth(pod, container -> container.setReady(false));
        world.sync();

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(readyOf(world.storedStatus("cart"))).isEqualTo("False");
        manager.terminatePod(pod);
        manager.setHealth(pod, container -> container.setReady(true));
        assertThat(readyOf(world.held(pod))).isEqualTo("False");
    }

    // start and close

    @Test
    void start_statusesThatWereSetBefore_areReported() {
        try (PodStatusFixture other = new PodStatusFixture()) {
            Pod early = other.create("early", spec("Always", "c1"));
            other.manager.setPodStatus(early, status("Running"));
            other.time.advance(Duration.ofMinutes(1));
            assertThat(other.requests()).isEmpty();

            other.manager.start();
            other.manager.start();
            other.sync();

            assertThat(other.requests()).containsExactly(GET, PATCH);
        }
    }

    @Test
    void close_makesNoFurtherRequestAndLeavesNoTimer() {
        var held = world.server.holdNext(PodStatusFixture.key("cart"));
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.requests();

        manager.close();
        held.release();
        manager.setPodStatus(pod, ready("False"));
        manager.start();
        world.time.advance(Duration.ofMinutes(1));

        assertThat(world.requests()).isEmpty();
        assertThat(readyOf(world.held(pod))).isEqualTo("False");
        assertThat(world.time.scheduledTasks()).isZero();
    }

    @Test
    void everyMethod_refusesNull() {
        new NullPointerTester()
                .setDefault(Pod.class, pod)
                .setDefault(DoubleSupplier.class, () -> 0.0)
                .testAllPublicInstanceMethods(manager);
    }
}
