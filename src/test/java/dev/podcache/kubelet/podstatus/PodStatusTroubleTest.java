package dev.podcache.kubelet.podstatus;

import static dev.podcache.embedded.Verb.DELETE;
import static dev.podcache.embedded.Verb.GET;
import static dev.podcache.embedded.Verb.PATCH;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RefusingTimers;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests that fail or reach another pod, and their number: TestSyncPodIgnoresNotFound,
 * TestSyncPodChecksMismatchedUID and TestSyncPodNoDeadlock of upstream, and cases of this library.
 */
@ExtendWith(NoLeaks.class)
class PodStatusTroubleTest {

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final String NOT_REPORTED = "failed; retrying";

    private final PodStatusFixture world = new PodStatusFixture();
    private final PodStatusManager manager = world.manager;
    private final Pod pod = world.create("cart", spec("Always", "c1"));
    private final String uid = pod.getMetadata().getUid();

    @BeforeEach
    void start() {
        manager.start();
    }

    @AfterEach
    void close() {
        world.close();
    }

    private void set(Pod of, String phase) {
        manager.setPodStatus(of, status(phase, running("c1")));
    }

    private void fail(int times, Verb verb, FailureReason reason) {
        world.server.failNext(
                times, PodStatusFixture.failure(reason), RequestPattern.any().verb(verb));
    }

    /** The Node authorizer refuses requests of a node about a pod that no longer exists. */
    @Test
    void podIsGone_requestIsForbidden_isNoWarning() {
        world.server.cluster().deleteNow(pod);
        world.known.remove(uid);
        fail(1, GET, FailureReason.FORBIDDEN);

        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(5));

        assertThat(world.requests()).containsExactly(GET);
    }

    /** A server that lags behind refuses what it does not know to be on the node yet. */
    @ParameterizedTest
    @EnumSource(names = {"FORBIDDEN", "NOT_FOUND"})
    void podIsUnknownToServerAndWatch_isReportedOnceTheWatchShowsIt(FailureReason refusal) {
        Pod shown = world.known.remove(uid);
        fail(1, GET, refusal);
        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(5));
        assertThat(world.requests()).containsExactly(GET);

        world.known.put(uid, shown);
        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    @Test
    void podIsGone_watchShowsItsEarlierStates_isAskedOnceForEach() {
        world.server.cluster().deleteNow(pod);
        set(pod, "Running");
        world.sync();

        world.known.put(uid, new PodBuilder(pod).build());
        world.time.advance(Duration.ofMinutes(5));

        assertThat(world.requests()).containsExactly(GET, GET);
    }

    @Test
    void podIsDeleted_requestIsForbiddenBeforeTheWatchSaysSo_isNoWarning() {
        world.server.cluster().delete(pod);
        world.watch();
        fail(1, GET, FailureReason.FORBIDDEN);

        set(pod, "Running");
        world.sync();
        world.known.remove(uid);
        fail(1, GET, FailureReason.FORBIDDEN);
        world.time.advance(Duration.ofMinutes(5));

        assertThat(world.requests()).containsExactly(GET, GET);
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void podIsDeleted_requestsStayForbidden_isAWarning() {
        world.server.cluster().delete(pod);
        world.watch();
        fail(2, GET, FailureReason.FORBIDDEN);

        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(1));
    }

    /** What the answer to the PATCH shows beside its own changes is not taken for a status that the server made of it. */
    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void statusIsOverwrittenBetweenGetAndPatch_isReportedAgain() {
        set(pod, "Running");
        world.sync();
        HeldRequests get = world.server.faults().hold(RequestPattern.any().verb(GET));
        manager.setPodStatus(pod, withMessage("a second status"));
        world.sync();
        world.server.cluster().updateStatus(Given.withStatus(world.stored("cart"), status("Unknown")));
        get.release();
        world.requests();

        world.time.advance(FIRST_PAUSE);
        world.watch();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
        assertThat(world.storedStatus("cart").getMessage()).isEqualTo("a second status");
        assertThat(world.requests()).containsExactly(GET, PATCH);
        world.time.advance(Duration.ofMinutes(5));
        assertThat(world.requests()).isEmpty();
    }

    /** No pod leaves such a phase: with restart policy Always, nothing else would end the pod either. */
    @Test
    void podHasFailedBeforeTheWatchSaysSo_staysFailed() {
        set(pod, "Running");
        world.sync();
        PodStatus failed = status("Failed", running("c1"));
        failed.setReason("NodeLost");
        failed.setMessage("the node is gone");
        world.server.cluster().updateStatus(Given.withStatus(world.stored("cart"), failed));
        world.requests();

        manager.setPodStatus(pod, withMessage("a second status"));
        world.sync();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Failed");
        assertThat(world.storedStatus("cart").getReason()).isEqualTo("NodeLost");
        assertThat(world.storedStatus("cart").getMessage()).isEqualTo("the node is gone");
        world.watch();
        world.requests();
        world.time.advance(Duration.ofMinutes(5));
        assertThat(world.requests()).isEmpty();

        manager.terminatePod(world.stored("cart"));
        world.sync();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Failed");
        assertThat(world.storedStatus("cart")
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getTerminated())
                .isNotNull();
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void podFailsBetweenGetAndPatch_isReportedAsNotReady() {
        set(pod, "Running");
        world.sync();
        HeldRequests get = world.server.faults().hold(RequestPattern.any().verb(GET));
        manager.setPodStatus(pod, Given.withConditions(withMessage("ready"), Given.condition("Ready", "True")));
        world.sync();
        world.server.cluster().updateStatus(Given.withStatus(world.stored("cart"), status("Failed", running("c1"))));
        get.release();

        world.time.advance(FIRST_PAUSE);
        world.watch();
        world.requests();

        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Failed");
        assertThat(world.storedStatus("cart").getConditions())
                .extracting(PodCondition::getType, PodCondition::getStatus, PodCondition::getReason)
                .contains(tuple("Ready", "False", "PodFailed"));
        world.time.advance(Duration.ofMinutes(5));
        assertThat(world.requests()).isEmpty();
    }

    private static PodStatus withMessage(String message) {
        PodStatus status = status("Running", running("c1"));
        status.setMessage(message);
        return status;
    }

    @Test
    void syncPodIgnoresNotFound_andAsksOnce() {
        world.server.cluster().deleteNow(pod);

        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(5));

        assertThat(world.requests()).containsExactly(GET);
        assertThat(manager.getPodStatus(uid)).isPresent();
    }

    @Test
    void syncPodChecksMismatchedUid_andForgetsTheOldPod() {
        world.server.cluster().deleteNow(pod);
        world.create("cart", spec("Always", "c1"));

        set(pod, "Running");
        world.sync();

        assertThat(world.requests()).containsExactly(GET);
        assertThat(manager.getPodStatus(uid)).isEmpty();
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Pending");
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "FORBIDDEN",
                "UNAUTHORIZED",
                "THROTTLED",
                "UNAVAILABLE",
                "TIMEOUT",
                "CONFLICT",
                "REJECTED",
                "UNREADABLE"
            })
    void syncPod_getThatFails_isRepeatedAfterAPause(FailureReason reason, NoLeaks leaks) {
        leaks.allowWarnings(NOT_REPORTED);
        fail(1, GET, reason);

        set(pod, "Running");
        world.sync();
        assertThat(world.requests()).containsExactly(GET);
        world.time.advance(FIRST_PAUSE);

        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_patchThatFails_beginsAgainWithTheGet() {
        fail(1, PATCH, FailureReason.CONFLICT);

        set(pod, "Running");
        world.sync();
        world.time.advance(FIRST_PAUSE);

        assertThat(world.requests()).containsExactly(GET, PATCH, GET, PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_deleteThatFails_isRepeated() {
        set(pod, "Running");
        world.sync();
        world.server.cluster().delete(pod);
        world.requests();
        fail(1, DELETE, FailureReason.UNAVAILABLE);

        manager.terminatePod(world.stored("cart"));
        world.sync();
        world.time.advance(FIRST_PAUSE);

        assertThat(world.requests()).containsExactly(GET, PATCH, DELETE, GET, DELETE);
        assertThat(manager.getPodStatus(uid)).isEmpty();
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_podThatIsRecreatedBetweenGetAndPatch_isNotWrittenTo() {
        var held = world.server.holdNext(PodStatusFixture.key("cart"));
        set(pod, "Running");
        world.sync();
        world.server.cluster().deleteNow(pod);
        world.create("cart", spec("Always", "c1"));
        held.release();
        world.time.advance(FIRST_PAUSE);

        assertThat(world.requests()).containsExactly(GET, PATCH, GET);
        assertThat(manager.getPodStatus(uid)).isEmpty();
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Pending");
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_podThatIsRecreatedBetweenPatchAndDelete_isNotDeleted() {
        set(pod, "Running");
        world.sync();
        world.server.cluster().delete(pod);
        manager.terminatePod(world.stored("cart"));
        var held = world.server.faults().holdNext(1, RequestPattern.any().verb(PATCH));
        world.sync();
        world.server.cluster().deleteNow(pod);
        Pod successor = world.create("cart", spec("Always", "c1"));
        held.release();
        world.time.advance(FIRST_PAUSE);

        assertThat(world.stored("cart").getMetadata().getUid())
                .isEqualTo(successor.getMetadata().getUid());
        assertThat(world.stored("cart").getMetadata().getDeletionTimestamp()).isNull();
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_outage_isAskedAfterGrowingPausesAndToldOnce() {
        fail(100, GET, FailureReason.UNAVAILABLE);

        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(1));

        // at 0, 1, 3, 7, 15, 25, 35, 45 and 55 s
        assertThat(world.requests()).hasSize(9);
        world.server.clearFailures();
        world.time.advance(Duration.ofSeconds(5));
        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    @ParameterizedTest
    @EnumSource
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        world.server.failNext(1, said.answer());
        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMillis(1999));
        assertThat(world.requests()).containsExactly(GET);
        world.time.advance(Duration.ofMillis(1));

        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    /** The Retry-After overflows a long of nanoseconds. */
    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_throttledForCenturies_isRepeatedAfterTwoMinutes() {
        world.server.failNext(
                1,
                new ApiServerException(
                        FailureReason.THROTTLED, 429, Duration.ofSeconds(9_999_999_999L), "a request", null));
        set(pod, "Running");
        world.sync();
        world.time.advance(Duration.ofMinutes(2));

        assertThat(world.requests()).containsExactly(GET, GET, PATCH);
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_newStatusDuringThePause_waitsForItsEnd() {
        fail(1, GET, FailureReason.UNAVAILABLE);
        set(pod, "Pending");
        world.sync();
        world.requests();

        set(pod, "Running");
        world.sync();
        assertThat(world.requests()).isEmpty();
        world.time.advance(FIRST_PAUSE);

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_serverThatAsksForALongerPause_getsIt() {
        world.server.failNext(
                1,
                new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofSeconds(25), "slow down", null),
                RequestPattern.any().verb(GET));
        set(pod, "Running");
        world.sync();
        world.requests();

        world.time.advance(Duration.ofMillis(24_999));
        assertThat(world.requests()).isEmpty();
        world.time.advance(Duration.ofMillis(1));

        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    @Test
    @ExpectedWarnings(NOT_REPORTED)
    void syncPod_podThatKeepsFailing_holdsUpNoOther() {
        world.server.failNext(
                100,
                PodStatusFixture.failure(FailureReason.REJECTED),
                RequestPattern.any().verb(PATCH).key(PodStatusFixture.key("cart")));
        Pod other = world.create("till", spec("Always", "c1"));

        set(pod, "Running");
        set(other, "Running");
        world.sync();

        assertThat(world.storedStatus("till").getPhase()).isEqualTo("Running");
        set(other, "Pending");
        world.sync();
        assertThat(world.storedStatus("till").getPhase()).isEqualTo("Pending");
    }

    @Test
    void syncPod_podThatGetsNoAnswer_holdsUpNoOther() {
        world.server.hold(PodStatusFixture.key("cart"));
        Pod other = world.create("till", spec("Always", "c1"));

        set(pod, "Running");
        set(other, "Running");
        world.sync();

        assertThat(world.storedStatus("till").getPhase()).isEqualTo("Running");
    }

    @Test
    void turn_manyPodsWithoutAnswers_hasEightUnderWay() {
        var held = world.server.faults().hold(RequestPattern.any().verb(GET));
        List<Pod> pods = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            pods.add(world.create("pod-" + i, spec("Always", "c1")));
        }
        pods.forEach(one -> set(one, "Running"));
        world.sync();
        assertThat(held.arrivals()).isEqualTo(8);

        held.release();
        world.sync();

        assertThat(pods)
                .allSatisfy(one -> assertThat(
                                world.storedStatus(one.getMetadata().getName()).getPhase())
                        .isEqualTo("Running"));
    }

    @Test
    void fullNode_isReportedWithTwoRequestsAPodAndThenWithNoneForAnHour() {
        List<Pod> pods = new ArrayList<>();
        for (int i = 0; i < 110; i++) {
            pods.add(world.create("pod-" + i, spec("Always", "c1")));
        }
        for (Pod one : pods) {
            manager.setPodStatus(one, PodStatuses.of(one, PodObservation.of(List.of(running("c1")), List.of())));
        }
        world.sync();
        assertThat(world.requests()).hasSize(220);

        world.watch();
        for (int minute = 0; minute < 60; minute++) {
            world.time.advance(Duration.ofMinutes(1));
            for (Pod one : pods) {
                manager.setPodStatus(one, PodStatuses.of(one, PodObservation.of(List.of(running("c1")), List.of())));
            }
        }
        assertThat(world.requests()).isEmpty();
    }

    @Test
    void reconcile_serverThatDropsAField_isNotAskedAgain() {
        ObjectApi<Pod> server = world.server.api(ObjectKind.POD, PodStatusFixture.TIMEOUT);
        ObjectApi<Pod> old = new ForwardingObjectApi<>(server) {
            @Override
            public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
                return super.patchStatus(key, patch.replaceAll("\"observedGeneration\":\\d+,?", ""));
            }
        };
        try (PodStatusManager other = new PodStatusManager(
                old, asked -> Optional.ofNullable(world.known.get(asked)), world.time, () -> 0.0)) {
            other.start();
            other.setPodStatus(pod, status("Running", running("c1")));
            world.sync();
            world.watch();
            world.requests();
            assertThat(world.storedStatus("cart").getObservedGeneration()).isNull();
            assertThat(other.getPodStatus(uid).orElseThrow().getObservedGeneration())
                    .isNotNull();

            world.time.advance(Duration.ofMinutes(5));

            assertThat(world.requests()).isEmpty();

            other.setPodStatus(
                    pod,
                    Given.withConditions(
                            status("Running", running("c1")), Given.condition("DisruptionTarget", "True")));
            other.terminatePod(pod);
            world.sync();

            assertThat(world.requests()).containsExactly(GET, PATCH);
            assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Failed");
            assertThat(world.storedStatus("cart").getConditions())
                    .extracting(PodCondition::getType)
                    .contains("DisruptionTarget");
        }
    }

    @Test
    @ExpectedWarnings({"report of the status of pod shop/cart", "full pass over the statuses of pods failed"})
    void bugs_inARoundOrALookup_doNotEndTheReporting() {
        boolean[] broken = {true};
        ObjectApi<Pod> server = world.server.api(ObjectKind.POD, PodStatusFixture.TIMEOUT);
        ObjectApi<Pod> breaking = new ForwardingObjectApi<>(server) {
            @Override
            public CompletableFuture<Pod> get(ObjectKey key) {
                if (broken[0]) {
                    throw new IllegalStateException("broken");
                }
                return super.get(key);
            }
        };
        try (PodStatusManager other = new PodStatusManager(
                breaking,
                asked -> {
                    throw new IllegalStateException("broken lookup");
                },
                world.time,
                () -> 0.0)) {
            other.start();
            other.setPodStatus(pod, status("Pending", running("c1")));
            world.sync();
            broken[0] = false;
            world.time.advance(Duration.ofSeconds(11));
            other.setPodStatus(pod, status("Running", running("c1")));
            world.sync();

            assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
        }
    }

    @Test
    @ExpectedWarnings("a timer could not be set")
    void timersThatCannotBeSet_doNotEndTheReporting() {
        RefusingTimers timers = new RefusingTimers(world.time);
        ObjectApi<Pod> server = world.server.api(ObjectKind.POD, PodStatusFixture.TIMEOUT);
        try (PodStatusManager other = new PodStatusManager(server, asked -> Optional.empty(), timers, () -> 0.0)) {
            other.start();
            timers.refusals = 2;
            assertThatThrownBy(() -> other.setPodStatus(pod, status("Running", running("c1"))))
                    .hasMessage("no room for a timer");
            world.time.advance(PodStatusSync.FULL_PASS.minusNanos(1));
            assertThat(world.requests()).isEmpty();

            world.time.advance(Duration.ofNanos(1));
            assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");

            timers.refusals = 1;
            other.setPodStatus(pod, withMessage("a second status"));
            world.sync();
            assertThat(world.storedStatus("cart").getMessage()).isEqualTo("a second status");
        }
    }
}
