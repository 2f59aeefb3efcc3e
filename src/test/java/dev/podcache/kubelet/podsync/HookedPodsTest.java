package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Lifecycle;
import io.fabric8.kubernetes.api.model.LifecycleBuilder;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.LifecycleHandlerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods with lifecycle hooks. Everything is real except the containers, the commands in them and the network. */
@ExtendWith(NoLeaks.class)
class HookedPodsTest {

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    private static LifecycleHandler command(String command) {
        return new LifecycleHandlerBuilder()
                .withNewExec()
                .withCommand(command)
                .endExec()
                .build();
    }

    private static PodBuilder with(Lifecycle lifecycle) {
        return WorkersFixture.pod("web")
                .editSpec()
                .editFirstContainer()
                .withLifecycle(lifecycle)
                .endContainer()
                .endSpec();
    }

    private static PodBuilder withPostStart(LifecycleHandler hook) {
        return with(new LifecycleBuilder().withPostStart(hook).build());
    }

    private static PodBuilder withPreStop(LifecycleHandler hook) {
        return with(new LifecycleBuilder().withPreStop(hook).build());
    }

    private static LifecycleHandler sleepWithoutSeconds() {
        return new LifecycleHandlerBuilder().withNewSleep().endSleep().build();
    }

    /** In a static pod, which the API server does not complete, Go reads it as 0. */
    @Test
    void hooks_sleepWithoutSeconds_theyDoNotSleep() {
        node.start();
        Pod web = node.create(with(new LifecycleBuilder()
                .withPostStart(sleepWithoutSeconds())
                .withPreStop(sleepWithoutSeconds())
                .build()));
        assertThat(node.status("web").getPhase()).isEqualTo("Running");

        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.runtime.calls)
                .containsExactly("start web/main", "stop web/main in 30", "stop web in 30", "forget web");
        assertThat(node.events.lines()).noneMatch(line -> line.startsWith("Warning"));
    }

    @Test
    void postStart_runsAfterTheStart() {
        node.start();
        node.create(withPostStart(command("warm-up")));

        assertThat(node.runtime.calls).containsExactly("start web/main", "exec web/main warm-up");
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    @ExpectedWarnings("pod shop/web: postStart lifecycle hook of container main failed")
    void postStart_fails_containerIsStoppedAndRestartedWithBackOff() {
        node.runtime.commands = command -> new FakeProcess("password: s3cret", 7);
        node.start();
        node.create(withPostStart(command("warm-up")));

        assertThat(node.runtime.calls)
                .containsExactly(
                        "start web/main",
                        "exec web/main warm-up",
                        "stop web/main in 30",
                        "start web/main",
                        "exec web/main warm-up",
                        "stop web/main in 30");
        assertThat(node.events.lines())
                .contains("Warning FailedPostStartHook PostStartHook failed", "Normal Killing FailedPostStartHook")
                .noneMatch(line -> line.contains("s3cret"));
        assertThat(node.waiting("web", "main")).startsWith("CrashLoopBackOff");
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("pod shop/web: postStart lifecycle hook of container main failed")
    void postStart_failsInAPodThatIsNotRestarted_podFails() {
        node.runtime.commands = command -> new FakeProcess("", 7);
        node.start();
        node.create(withPostStart(command("warm-up"))
                .editSpec()
                .withRestartPolicy("Never")
                .endSpec());

        assertThat(node.container("web", "main").getState().getTerminated()).isNotNull();
        assertThat(node.status("web").getPhase()).isEqualTo("Succeeded");
    }

    @Test
    @ExpectedWarnings("pod shop/web: postStart lifecycle hook of container main failed")
    void postStartOfTypeTcpSocket_fails_asInAKubelet() {
        node.start();
        node.create(withPostStart(new LifecycleHandlerBuilder()
                .withNewTcpSocket()
                .withNewPort(80)
                .endTcpSocket()
                .build()));

        assertThat(node.events.lines()).contains("Warning FailedPostStartHook PostStartHook failed");
    }

    @Test
    void preStop_runsBeforeThePodIsStopped() {
        node.start();
        Pod web = node.create(withPreStop(command("drain")));
        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.runtime.calls)
                .containsExactly(
                        "start web/main", "exec web/main drain", "stop web/main in 30", "stop web in 30", "forget web");
    }

    @Test
    @ExpectedWarnings("pod shop/web: preStop lifecycle hook of container main failed")
    void preStop_fails_containerIsStoppedAnyway() {
        node.runtime.commands = command -> new FakeProcess("", 7);
        node.start();
        Pod web = node.create(withPreStop(command("drain")));
        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.events.lines()).contains("Warning FailedPreStopHook PreStopHook failed");
        assertThat(node.runtime.calls).contains("stop web/main in 30");
        assertThat(node.exists("web")).isFalse();
    }

    @Test
    void preStop_takesTime_thatIsMissingInTheGracePeriod() {
        node.runtime.commands = command -> {
            node.timekeeper.advance(Duration.ofSeconds(12));
            return new FakeProcess("", 0);
        };
        node.start();
        Pod web = node.create(withPreStop(command("drain")));
        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.runtime.calls).contains("stop web/main in 18");
    }

    @Test
    void preStop_takesTheWholeGracePeriod_twoSecondsRemain() {
        node.runtime.commands = command -> {
            node.timekeeper.advance(Duration.ofSeconds(31));
            return new FakeProcess("", 0);
        };
        node.start();
        Pod web = node.create(withPreStop(command("drain")));
        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.runtime.calls).contains("stop web/main in 2");
    }

    @Test
    void changedImage_preStopRunsBeforeTheContainerIsReplaced() {
        node.start();
        Pod web = node.create(withPreStop(command("drain")));

        node.server
                .cluster()
                .update(new PodBuilder(node.server.cluster().get(Pod.class, "shop", "web"))
                        .editSpec()
                        .editFirstContainer()
                        .withImage("nginx:2")
                        .endContainer()
                        .endSpec()
                        .build());
        node.settle();

        assertThat(web.getSpec().getContainers().get(0).getImage()).isEqualTo("nginx");
        assertThat(node.runtime.calls)
                .containsExactly("start web/main", "exec web/main drain", "stop web/main in 30", "start web/main");
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.container("web", "main").getImage()).isEqualTo("nginx:2");
    }
}
