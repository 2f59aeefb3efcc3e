package dev.podcache.kubelet.podstatus;

import static dev.podcache.embedded.Verb.DELETE;
import static dev.podcache.embedded.Verb.GET;
import static dev.podcache.embedded.Verb.PATCH;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.withStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.StatusException;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The final statuses of pods, and their deletion. */
@ExtendWith(NoLeaks.class)
class PodStatusEndTest extends PodStatusManagerFixture {

    // TestTerminatePod, TestDeletePods

    @Test
    void terminatePod_runningPod_hasFailedAndIsNotReady() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.requests();

        manager.terminatePod(pod);
        world.sync();

        PodStatus stored = world.storedStatus("cart");
        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(stored.getPhase()).isEqualTo("Failed");
        assertThat(readyOf(stored)).isEqualTo("False");
        assertThat(stored.getContainerStatuses())
                .allSatisfy(container -> assertThat(
                                container.getState().getTerminated().getExitCode())
                        .isEqualTo(137));
    }

    @Test
    void terminatePod_podWithoutACachedStatus_endsTheServersStatus() {
        Pod seen = withStatus(pod, status("Running", running("c1")));

        manager.terminatePod(seen);

        assertThat(world.held(pod).getPhase()).isEqualTo("Failed");
        assertThat(world.held(pod).getContainerStatuses().get(0).getState().getTerminated())
                .isNotNull();
    }

    @Test
    void succeeded_whileContainersMayRun_isHeldBackUntilTerminatePod() {
        manager.setPodStatus(pod, status("Succeeded", ended("c1", 0), ended("c2", 0)));
        world.sync();
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Pending");

        manager.terminatePod(pod);
        world.sync();
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Succeeded");
    }

    @Test
    void deletePods_podThatWasDeletedAndHasEnded_isRemoved() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.server.cluster().delete(pod);
        world.requests();

        manager.terminatePod(world.stored("cart"));
        world.sync();

        assertThat(world.requests()).containsExactly(GET, PATCH, DELETE);
        assertThat(manager.getPodStatus(uid)).isEmpty();
        assertThatThrownBy(() -> world.stored("cart")).isInstanceOf(StatusException.class);
    }

    @Test
    void deletePods_podThatHasNotEnded_isNot() {
        manager.setPodStatus(pod, ready("True"));
        world.sync();
        world.server.cluster().delete(pod);
        world.requests();

        manager.setPodStatus(world.stored("cart"), ready("False"));
        world.sync();
        world.watch();
        world.time.advance(Duration.ofMinutes(1));

        assertThat(world.requests()).containsExactly(GET, PATCH);
    }

    @Test
    void deletePods_podThatOnlyTheWatchShowsAsDeleted_isLookedAtAndStays() {
        manager.setPodStatus(pod, ready("True"));
        manager.terminatePod(pod);
        world.sync();
        world.requests();

        world.known.put(
                uid,
                new PodBuilder(world.stored("cart"))
                        .editMetadata()
                        .withDeletionTimestamp("2026-01-01T00:00:30Z")
                        .endMetadata()
                        .build());
        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).containsExactly(GET);
    }

    // TestSyncBatchCleanupVersions, TestReconcilePodStatus

    @Test
    void forget_onlyThatPodIsForgottenWithoutARequest() {
        Pod other = world.create("till", spec("Always", "c1"));
        manager.setPodStatus(pod, ready("True"));
        manager.setPodStatus(other, ready("True"));
        world.sync();
        world.requests();

        manager.forget(other.getMetadata().getUid());
        world.sync();

        assertThat(manager.getPodStatus(uid)).isPresent();
        assertThat(manager.getPodStatus(other.getMetadata().getUid())).isEmpty();
        assertThat(world.requests()).isEmpty();
    }

    @Test
    void syncBatchCleanupVersions_podThatWasForgottenAndComesBack_isReported() {
        for (int i = 0; i < 3; i++) {
            manager.setPodStatus(pod, ready(i % 2 == 0 ? "True" : "False"));
            world.sync();
        }
        manager.forget(uid);
        world.requests();

        manager.setPodStatus(pod, ready("False"));
        world.sync();

        assertThat(world.requests()).containsExactly(GET, PATCH);
        assertThat(readyOf(world.storedStatus("cart"))).isEqualTo("False");
    }
}
