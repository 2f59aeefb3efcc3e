package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Verb;
import dev.podcache.pod.PodOrigin;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The status of a static pod is reported for its mirror pod. After upstream's {@code TestStaticPod} and others. */
@ExtendWith(NoLeaks.class)
class MirrorStatusTest {

    private static final String UID = "hash-1";

    private final PodStatusFixture world = new PodStatusFixture();
    private final PodStatusManager manager = world.manager;
    private final Pod pod = new PodBuilder(Given.pod("cart", UID, spec("Always", "c1")))
            .editMetadata()
            .addToAnnotations(PodOrigin.SOURCE, "file")
            .addToAnnotations(PodOrigin.HASH, UID)
            .endMetadata()
            .withStatus(null)
            .build();

    @BeforeEach
    void start() {
        world.known.put(UID, pod);
        manager.start();
    }

    @AfterEach
    void close() {
        world.close();
    }

    private Pod createMirror() {
        Pod mirror = world.server
                .cluster()
                .create(new PodBuilder(pod)
                        .editMetadata()
                        .withUid(null)
                        .addToAnnotations(PodOrigin.MIRROR, UID)
                        .endMetadata()
                        .build());
        world.mirrors.put(UID, mirror);
        return mirror;
    }

    private void setRunning() {
        manager.setPodStatus(pod, status("Running", running("c1")));
    }

    private void mirrorsChanged() {
        manager.mirrorPodsChanged();
        world.sync();
    }

    @Test
    void noMirrorPod_noRequest() {
        setRunning();
        world.sync();
        world.time.advance(Duration.ofMinutes(1));

        assertThat(world.requests()).isEmpty();
    }

    @Test
    void mirrorPodAppears_statusIsReportedForItOnce() {
        setRunning();
        world.sync();

        createMirror();
        mirrorsChanged();
        assertThat(world.requests()).containsExactly(Verb.GET, Verb.PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");

        setRunning();
        mirrorsChanged();
        assertThat(world.requests()).isEmpty();
    }

    @Test
    void mirrorPodIsReplaced_statusIsReportedForTheNewOne() {
        Pod first = createMirror();
        setRunning();
        world.sync();
        world.server.cluster().deleteNow(first);
        createMirror();
        world.requests();

        mirrorsChanged();

        assertThat(world.requests()).containsExactly(Verb.GET, Verb.PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    void serverHasAnotherMirrorPod_noPatch_andTheStatusIsKept() {
        Pod first = createMirror();
        world.server.cluster().deleteNow(first);
        createMirror();
        world.mirrors.put(UID, first);

        setRunning();
        world.sync();

        assertThat(world.requests()).containsExactly(Verb.GET);
        assertThat(manager.hasStatus(UID)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Pending", "Failed"})
    void statusIsOverwrittenByOthers_isReportedAgain(String phase) {
        createMirror();
        setRunning();
        world.sync();
        Pod overwritten = world.server
                .cluster()
                .updateStatus(new PodBuilder(world.stored("cart"))
                        .withStatus(new PodStatusBuilder(world.storedStatus("cart"))
                                .withPhase(phase)
                                .build())
                        .build());
        world.mirrors.put(UID, overwritten);
        world.requests();

        world.time.advance(PodStatusSync.FULL_PASS);

        assertThat(world.requests()).containsExactly(Verb.GET, Verb.PATCH);
        assertThat(world.storedStatus("cart").getPhase()).isEqualTo("Running");
    }

    @Test
    void mirrorPodIsDeletedAndThePodHasEnded_mirrorPodIsNotDeleted() {
        Pod mirror = createMirror();
        setRunning();
        world.sync();
        world.server.cluster().delete(mirror);
        world.mirrors.put(UID, world.stored("cart"));
        world.requests();

        manager.terminatePod(pod);
        world.sync();
        world.time.advance(Duration.ofMinutes(1));

        assertThat(world.requests()).doesNotContain(Verb.DELETE);
    }

    @Test
    void agentIsRestarted_startTimeOfTheMirrorPodIsKept() {
        Pod mirror = createMirror();
        world.mirrors.put(
                UID,
                world.server
                        .cluster()
                        .updateStatus(new PodBuilder(mirror)
                                .withNewStatus()
                                .withPhase("Running")
                                .withStartTime(Given.LONG_AGO)
                                .endStatus()
                                .build()));

        setRunning();
        world.sync();

        assertThat(world.storedStatus("cart").getStartTime()).isEqualTo(Given.LONG_AGO);
    }
}
