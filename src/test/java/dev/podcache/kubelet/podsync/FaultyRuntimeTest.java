package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.kubelet.podsync.WorkersFixture.withEnvFrom;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runtimes that fail, or do not keep the promises of PodRuntime: the agent must not call them in a tight loop. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(NoLeaks.class)
class FaultyRuntimeTest {

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private void changeImage(String image) {
        node.server
                .cluster()
                .update(new PodBuilder(node.server.cluster().get(Pod.class, "shop", "web"))
                        .editSpec()
                        .editFirstContainer()
                        .withImage(image)
                        .endContainer()
                        .endSpec()
                        .build());
        node.settle();
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod shop/web")
    void refusesToStart_isReportedAndRetried() {
        node.start();
        node.runtime.onStart = new IllegalStateException("no space left on device");
        node.create(pod("web"));
        assertThat(node.waiting("web", "main")).isEqualTo("RunContainerError: no space left on device");

        node.runtime.onStart = null;
        node.timekeeper.advance(Duration.ofSeconds(10));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    /** At first it was repeated every 10 s. */
    @Test
    @ExpectedWarnings("runtime failed to start container main of pod shop/web")
    void refusesToStart_isRepeatedAfterGrowingPauses() {
        node.start();
        node.runtime.onStart = new IllegalStateException("no space left on device");
        node.create(pod("web"));
        List<Long> pauses = new ArrayList<>();
        for (int attempt = 1; attempt <= 7; attempt++) {
            int before = node.runtime.calls.size();
            long waited = 0;
            while (node.runtime.calls.size() == before) {
                node.timekeeper.advance(Duration.ofSeconds(1));
                waited++;
            }
            pauses.add(waited);
        }
        node.settle();

        assertThat(pauses).containsExactly(10L, 20L, 40L, 80L, 160L, 300L, 300L);
        assertThat(node.waiting("web", "main")).isEqualTo("RunContainerError: no space left on device");
        assertThat(node.lines()).containsExactly("Warning Failed Error: no space left on device");
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod shop/web")
    void refusesToStart_configurationChanges_isRepeatedAtOnce() {
        node.secret("db", "one");
        node.start();
        node.runtime.onStart = new IllegalStateException("variable db is bad");
        node.create(withEnvFrom(pod("web"), "db"));
        node.timekeeper.advance(Duration.ofSeconds(31));
        assertThat(node.runtime.calls).hasSize(3);

        node.runtime.onStart = null;
        node.server.cluster().update(Secrets.of("shop", "db", "two"));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void healthyPod_hasTheEventsOfAKubelet() {
        node.start();
        node.create(pod("web"));

        assertThat(node.events.lines())
                .containsExactly(
                        "Normal Pulled Container image \"nginx\" already present on machine and can be accessed by the pod",
                        "Normal Created Container created",
                        "Normal Started Container started");
        assertThat(node.events.events())
                .allMatch(event -> "spec.containers{main}".equals(event.about().getFieldPath()));
    }

    private static PodBuilder withAnother(PodBuilder pod) {
        return pod.editSpec()
                .addNewContainer()
                .withName("other")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    @Test
    @ExpectedWarnings("runtime failed to start container other of pod shop/web")
    void refusesToStartOneOfTwo_isNotTriedAgainInTheSameSync_butInTheNext() {
        node.start();
        node.runtime.failsToStart = "other";
        node.create(withAnother(pod("web")));

        assertThat(node.runtime.calls).containsExactly("start web/main", "start web/other");
        assertThat(node.lines()).containsExactly("Warning Failed Error: other has no disk");
        assertThat(node.waiting("web", "other")).isEqualTo("RunContainerError: other has no disk");

        node.runtime.failsToStart = null;
        node.timekeeper.advance(Duration.ofSeconds(10));
        node.settle();

        assertThat(node.runtime.calls).containsExactly("start web/main", "start web/other", "start web/other");
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void oneOfTwoBacksOff_whileTheOtherStarts_oneEventSaysSo() throws Exception {
        node.start();
        Pod web = node.create(withAnother(pod("web")));
        for (int i = 0; i < 2; i++) {
            node.runtime.stopContainer(PodReferences.key(web), "other", Duration.ZERO);
            if (i == 1) {
                node.runtime.stopContainer(PodReferences.key(web), "main", Duration.ZERO);
            }
            node.workers.changed(web.getMetadata().getUid());
            node.settle();
        }

        assertThat(node.container("web", "main").getState().getRunning()).isNotNull();
        assertThat(node.waiting("web", "other")).startsWith("CrashLoopBackOff");
        assertThat(node.lines()).hasSize(1).allMatch(line -> line.startsWith("Warning BackOff"));
    }

    @Test
    @ExpectedWarnings("runtime failed to mount volumes of pod shop/web")
    void refusesToMount_noContainerStarts() {
        node.start();
        node.runtime.onMount = new IllegalStateException("read-only file system");
        node.create(pod("web"));

        assertThat(node.waiting("web", "main")).startsWith("ContainerCreating");
        assertThat(node.lines())
                .containsExactly("Warning FailedMount Unable to attach or mount volumes: read-only file system");
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod")
    void lacksAClass_isReportedAndRetried() {
        node.start();
        node.runtime.onStart = new NoClassDefFoundError("io/user/Starter");
        node.create(pod("web"));
        assertThat(node.waiting("web", "main")).isEqualTo("RunContainerError: io/user/Starter");

        node.runtime.onStart = null;
        node.timekeeper.advance(Duration.ofSeconds(15));

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void statusFails_syncIsRetried() {
        node.start();
        node.runtime.onStatus = new StackOverflowError();
        node.create(pod("web"));

        node.runtime.onStatus = null;
        node.timekeeper.advance(Duration.ofSeconds(15));

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void saysNotWhenContainersEnded_theirRestartsWaitForTheBackOffOnly() throws Exception {
        node.runtime.hidesEnds = true;
        node.start();
        Pod web = node.create(pod("web"));
        for (int restarts = 1; restarts <= 3; restarts++) {
            node.runtime.stopContainer(PodReferences.key(web), "main", Duration.ZERO);
            node.workers.changed(web.getMetadata().getUid());
            node.timekeeper.advance(Duration.ofSeconds(20));
            node.settle();

            assertThat(node.container("web", "main").getRestartCount()).isEqualTo(restarts);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-60, 60})
    void hasAWrongClock_containersThatEndAtOnceBackOff(long minutes) {
        try (WorkersFixture crashing = new WorkersFixture(WorkersFixture.Options.DEFAULT.with(
                new HollowStage(Map.of(), Duration.ZERO, Duration.ofSeconds(1), 1)))) {
            crashing.runtime.endsAhead = Duration.ofMinutes(minutes);
            crashing.start();
            crashing.create(pod("web"));

            crashing.timekeeper.advance(Duration.ofSeconds(5));

            assertThat(crashing.runtime.calls).containsExactly("start web/main", "start web/main");
            assertThat(crashing.waiting("web", "main")).startsWith("CrashLoopBackOff: back-off 10s");

            crashing.timekeeper.advance(Duration.ofSeconds(10));

            assertThat(crashing.runtime.calls).hasSize(3);
        }
    }

    @Test
    void saysNotWhenContainersStarted_theyRunSinceTheyWereFirstSeen() {
        node.runtime.startedAt = "2026-01-01T10:00:00";
        node.start();
        node.create(pod("web"));
        String started = node.container("web", "main").getState().getRunning().getStartedAt();
        node.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(started).endsWith("Z");
        assertThat(node.container("web", "main").getState().getRunning().getStartedAt())
                .isEqualTo(started);
    }

    @Test
    void startIsIgnored_isRepeatedAtTheNextSync() {
        node.runtime.ignoresStart = true;
        node.start();
        node.create(pod("web"));
        assertThat(node.runtime.calls).containsExactly("start web/main");

        node.runtime.ignoresStart = false;
        node.timekeeper.advance(Duration.ofSeconds(10));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void stopIsIgnored_isRepeatedAtTheNextSync() {
        node.start();
        node.create(pod("web"));
        node.runtime.ignoresStop = true;
        node.runtime.ignoresStart = true;

        changeImage("nginx:2");

        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web/main in 30", "start web/main");
    }

    @Test
    void imageIsShownUnderAnotherName_containerIsNotRestarted() {
        node.runtime.imagePrefix = "docker.io/library/";
        node.start();
        node.create(pod("web"));
        node.timekeeper.advance(WorkersFixture.SYNC.multipliedBy(2));
        node.settle();

        assertThat(node.runtime.calls).containsExactly("start web/main");
        assertThat(node.container("web", "main").getImage()).isEqualTo("docker.io/library/nginx");

        changeImage("nginx:2");

        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web/main in 30", "start web/main");
    }
}
