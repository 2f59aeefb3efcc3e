package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.kubelet.runtime.PodProvider;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whole pods run by a provider, on hand-driven time; and by the threads of the example. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class PodProviderTest {

    @RegisterExtension
    final AgentFixture fixture = new AgentFixture();

    private final RecordedProvider provider = new RecordedProvider();

    /** Does what it is told, and lists the calls. A pod that was created runs. */
    private static final class RecordedProvider implements PodProvider, AutoCloseable {

        final List<String> calls = new ArrayList<>();
        final Map<PodKey, ContainerState> states = new HashMap<>();
        final Map<PodKey, PodSetup> setups = new HashMap<>();
        boolean ready = true;
        List<String> podIps = List.of("10.0.0.7");
        int failures;

        /** The container that it shows in place of the first of a pod. */
        @Nullable
        String showsOnly;

        @Nullable
        RuntimeEvents events;

        @Override
        public void close() throws IOException {
            called("close");
        }

        @Override
        public String type() {
            return "recorded";
        }

        @Override
        public void listen(RuntimeEvents told) {
            events = told;
        }

        @Override
        public RuntimeStatus health() {
            return RuntimeStatus.ready("1");
        }

        @Override
        public List<PodKey> pods() {
            return List.copyOf(states.keySet());
        }

        private void called(String what) throws IOException {
            calls.add(what);
            if (failures > 0) {
                failures--;
                throw new IOException("the scheduler is full");
            }
        }

        @Override
        public void create(Pod pod, PodSetup setup) throws IOException {
            called("create " + pod.getMetadata().getName());
            PodKey key = PodReferences.key(pod);
            setups.put(key, setup);
            states.put(
                    key,
                    new ContainerStateBuilder()
                            .withNewRunning("2026-01-01T00:00:00Z")
                            .build());
        }

        @Override
        public void update(Pod pod, PodSetup setup) throws IOException {
            called("update " + pod.getMetadata().getName());
            setups.put(PodReferences.key(pod), setup);
        }

        @Override
        public void delete(PodKey pod, Duration gracePeriod) {
            if (states.containsKey(pod)) {
                calls.add("delete " + pod.name() + " " + gracePeriod.toSeconds());
                states.put(pod, ended(143));
            }
        }

        @Override
        public void forget(PodKey pod) {
            states.remove(pod);
        }

        @Override
        public PodState status(Pod pod) {
            ContainerState state = states.get(PodReferences.key(pod));
            return state == null
                    ? PodState.NONE
                    : PodState.of(
                            List.of(),
                            List.of(new ContainerStatusBuilder()
                                    .withName(
                                            showsOnly == null
                                                    ? pod.getSpec()
                                                            .getContainers()
                                                            .get(0)
                                                            .getName()
                                                    : showsOnly)
                                    .withContainerID("job://1")
                                    .withRestartCount(3)
                                    .withReady(ready && state.getRunning() != null)
                                    .withState(state)
                                    .build()),
                            podIps);
        }

        static ContainerState ended(int code) {
            return new ContainerStateBuilder()
                    .withNewTerminated()
                    .withExitCode(code)
                    .withFinishedAt("2026-01-01T00:00:00Z")
                    .endTerminated()
                    .build();
        }
    }

    private void start(PodProvider used) {
        fixture.agent(options -> options.runtime(used)).start();
        fixture.timekeeper.advance(Duration.ofSeconds(1));
    }

    private static PodBuilder pod(String name) {
        return Pods.assigned(AgentFixture.NODE, name);
    }

    private Pod create(PodBuilder pod) {
        return fixture.server.cluster().create(pod.build());
    }

    private void settle() {
        fixture.timekeeper.advance(Duration.ofSeconds(1));
    }

    @Test
    void pod_isCreatedOnceWithItsSetup_andReportedAsTheProviderShowsIt() {
        fixture.server.cluster().create(Secrets.of("shop", "tls", "key"));
        create(Pods.withVolume(pod("web"), "tls"));

        start(provider);
        fixture.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(provider.calls).containsExactly("create web");
        PodProvider.PodSetup setup = provider.setups.values().iterator().next();
        assertThat(setup.volumes()).hasSize(1);
        assertThat(setup.launches()).hasSize(1);
        assertThat(setup.toString()).isEqualTo("PodSetup[1 containers, 1 volumes]");
        Pod shown = fixture.pod("web");
        assertThat(shown.getStatus().getPhase()).isEqualTo("Running");
        assertThat(shown.getStatus().getPodIP()).isEqualTo("10.0.0.7");
        assertThat(shown.getStatus().getContainerStatuses().get(0).getRestartCount())
                .isEqualTo(3);
        assertThat(condition("web", "Ready")).isEqualTo("True");
    }

    private String condition(String name, String type) {
        return fixture.pod(name).getStatus().getConditions().stream()
                .filter(each -> each.getType().equals(type))
                .map(each -> each.getStatus())
                .findFirst()
                .orElse("none");
    }

    @Test
    void object_isMissing_podWaitsAndIsCreatedWhenItComes(NoLeaks leaks) {
        create(Pods.withVolume(pod("web"), "late"));
        start(provider);
        assertThat(provider.calls).isEmpty();
        assertThat(fixture.pod("web").getStatus().getPhase()).isEqualTo("Pending");

        fixture.server.cluster().create(Secrets.of("shop", "late", "key"));
        settle();

        assertThat(provider.calls).containsExactly("create web");
    }

    @Test
    void object_changes_isAnUpdateWithTheNewContent() {
        fixture.server.cluster().create(Secrets.of("shop", "tls", "old"));
        create(Pods.withVolume(pod("web"), "tls"));
        start(provider);

        Secret changed = fixture.server.cluster().get(Secret.class, "shop", "tls");
        changed.getData()
                .replaceAll((key, value) -> Base64.getEncoder().encodeToString("new".getBytes(StandardCharsets.UTF_8)));
        fixture.server.cluster().update(changed);
        settle();

        assertThat(provider.calls).containsExactly("create web", "update web");
    }

    @Test
    void labels_change_isAnUpdate_aStatusIsNone() {
        create(pod("web"));
        start(provider);

        Pod labelled = new PodBuilder(fixture.pod("web"))
                .editMetadata()
                .addToLabels("tier", "front")
                .endMetadata()
                .build();
        fixture.server.cluster().update(labelled);
        settle();
        fixture.timekeeper.advance(Duration.ofMinutes(3));

        assertThat(provider.calls).containsExactly("create web", "update web");
    }

    @Test
    void ephemeralContainers_areAnUpdate_andOneThatLacksItsSecretKeepsNothingElseWaiting() {
        create(pod("web"));
        start(provider);

        fixture.server
                .cluster()
                .update(new PodBuilder(fixture.pod("web"))
                        .editSpec()
                        .addNewEphemeralContainer()
                        .withName("debug")
                        .withImage("busybox")
                        .endEphemeralContainer()
                        .addNewEphemeralContainer()
                        .withName("late")
                        .withImage("busybox")
                        .addNewEnvFrom()
                        .withNewSecretRef("late", null)
                        .endEnvFrom()
                        .endEphemeralContainer()
                        .endSpec()
                        .build());
        settle();

        assertThat(provider.calls).containsExactly("create web", "update web");
        assertThat(provider.setups.values().iterator().next().launches()).containsOnlyKeys("main", "debug");
        assertThat(fixture.pod("web").getStatus().getEphemeralContainerStatuses())
                .extracting(
                        ContainerStatus::getName,
                        status -> status.getState().getWaiting().getReason())
                .containsExactly(tuple("debug", "ContainerCreating"), tuple("late", "CreateContainerConfigError"));
        assertThat(condition("web", "Ready")).isEqualTo("True");
    }

    @Test
    void onlyAnEphemeralContainerIsShown_podIsThere_andIsUpdated() {
        Pod created = create(pod("web")
                .editSpec()
                .addNewEphemeralContainer()
                .withName("debug")
                .withImage("busybox")
                .endEphemeralContainer()
                .endSpec());
        provider.showsOnly = "debug";
        provider.states.put(
                PodReferences.key(created),
                new ContainerStateBuilder()
                        .withNewRunning("2026-01-01T00:00:00Z")
                        .build());

        start(provider);

        assertThat(provider.calls).containsExactly("update web");
        assertThat(fixture.pod("web").getStatus().getPhase()).isEqualTo("Pending");
    }

    @Test
    void create_fails_isRepeatedAfterGrowingPausesAndSaysWhy(NoLeaks leaks) {
        leaks.allowWarnings("provider failed to create pod");
        provider.failures = 2;
        create(pod("web"));
        start(provider);
        assertThat(provider.calls).hasSize(1);
        assertThat(fixture.pod("web")
                        .getStatus()
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getWaiting())
                .satisfies(waiting -> {
                    assertThat(waiting.getReason()).isEqualTo("ProviderFailed");
                    assertThat(waiting.getMessage()).isEqualTo("the scheduler is full");
                });

        fixture.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(provider.calls).hasSize(2);
        fixture.timekeeper.advance(Duration.ofSeconds(18));
        assertThat(provider.calls).hasSize(2);
        fixture.timekeeper.advance(Duration.ofSeconds(5));

        assertThat(provider.calls).containsExactly("create web", "create web", "create web");
        assertThat(fixture.pod("web").getStatus().getPhase()).isEqualTo("Running");
    }

    @Test
    void create_failed_isStillSaidWhenThePodIsSyncedBeforeTheNextAttempt(NoLeaks leaks) {
        leaks.allowWarnings("provider failed to create pod");
        provider.failures = 1;
        Pod web = create(pod("web"));
        start(provider);

        provider.events.changed(web.getMetadata().getUid());
        settle();

        assertThat(provider.calls).hasSize(1);
        assertThat(fixture.pod("web")
                        .getStatus()
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getWaiting()
                        .getReason())
                .isEqualTo("ProviderFailed");
    }

    @Test
    void agent_startsAgain_resizeStaysInfeasible() {
        create(withCpu(pod("web"), "1"));
        NodeAgent first = fixture.agent(options -> options.runtime(provider));
        first.start();
        settle();
        fixture.server
                .cluster()
                .update(withCpu(new PodBuilder(fixture.pod("web")), "2").build());
        settle();
        assertThat(condition("web", "PodResizePending")).isEqualTo("True");
        first.close();

        start(provider);

        assertThat(condition("web", "PodResizePending")).isEqualTo("True");
    }

    private static PodBuilder withCpu(PodBuilder pod, String cpu) {
        return pod.editSpec()
                .editFirstContainer()
                .editOrNewResources()
                .addToRequests("cpu", new Quantity(cpu))
                .endResources()
                .endContainer()
                .endSpec();
    }

    @Test
    void provider_saysThatAPodIsNotReady_isReportedAtOnce() {
        Pod web = create(pod("web"));
        start(provider);

        provider.ready = false;
        provider.events.changed(web.getMetadata().getUid());
        settle();

        assertThat(condition("web", "Ready")).isEqualTo("False");
    }

    @Test
    void pod_endsByItself_isOverByItsRestartPolicyAndFreedWhenItIsGone() {
        Pod job = create(pod("job").editSpec().withRestartPolicy("Never").endSpec());
        start(provider);

        provider.states.put(PodReferences.key(job), RecordedProvider.ended(0));
        provider.events.changed(job.getMetadata().getUid());
        settle();

        assertThat(fixture.pod("job").getStatus().getPhase()).isEqualTo("Succeeded");
        assertThat(provider.calls).containsExactly("create job");

        fixture.server.cluster().deleteNow(job);
        settle();

        assertThat(provider.calls).containsExactly("create job", "delete job 0");
        assertThat(provider.states).isEmpty();
    }

    @Test
    void pod_endsByItself_afterItsSecretIsGone_isOver() {
        fixture.server.cluster().create(Secrets.of("shop", "db", "key"));
        Pod job = create(pod("job")
                .editSpec()
                .withRestartPolicy("Never")
                .editFirstContainer()
                .addNewEnvFrom()
                .withNewSecretRef("db", null)
                .endEnvFrom()
                .endContainer()
                .endSpec());
        start(provider);
        fixture.server.cluster().delete(Secrets.of("shop", "db", ""));
        settle();

        provider.states.put(PodReferences.key(job), RecordedProvider.ended(0));
        provider.events.changed(job.getMetadata().getUid());
        settle();

        assertThat(provider.calls).containsExactly("create job");
        assertThat(fixture.pod("job").getStatus().getPhase()).isEqualTo("Succeeded");
        assertThat(fixture.pod("job")
                        .getStatus()
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getTerminated())
                .isNotNull();
    }

    @Test
    void pod_hasATextThatIsNoAddress_isReportedWithoutIt(NoLeaks leaks) {
        leaks.allowWarnings("the runtime reports \"eth0\", \"fe80::1%eth0\" as IP of pod shop/web");
        provider.podIps = List.of("eth0", "10.0.0.7", "fe80::1%eth0");
        create(pod("web"));

        start(provider);

        assertThat(fixture.pod("web").getStatus().getPhase()).isEqualTo("Running");
        assertThat(fixture.pod("web").getStatus().getPodIPs())
                .extracting(PodIP::getIp)
                .containsExactly("10.0.0.7");
    }

    @Test
    void pod_hasATextThatIsNoTime_isReportedWithoutIt() {
        Pod web = create(pod("web"));
        start(provider);

        provider.states.put(
                PodReferences.key(web),
                new ContainerStateBuilder()
                        .withNewRunning("2026-01-01T10:00:00")
                        .build());
        provider.events.changed(web.getMetadata().getUid());
        settle();

        ContainerState state =
                fixture.pod("web").getStatus().getContainerStatuses().get(0).getState();
        assertThat(state.getRunning()).isNotNull();
        assertThat(state.getRunning().getStartedAt()).isNull();
    }

    @Test
    void pod_isDeleted_isStoppedWithItsGracePeriodAndForgotten() {
        Pod web = create(
                pod("web").editSpec().withTerminationGracePeriodSeconds(7L).endSpec());
        start(provider);

        fixture.server.cluster().delete(web);
        settle();
        fixture.timekeeper.advance(Duration.ofSeconds(10));

        assertThat(provider.calls).startsWith("create web", "delete web 7");
        assertThat(provider.states).isEmpty();
    }

    @Test
    void agent_isClosed_closesItsRuntimeOnceAndGoesOnWhateverItThrows(NoLeaks leaks) {
        leaks.allowWarnings("the container runtime was not closed");
        NodeAgent agent = fixture.agent(options -> options.runtime(provider));
        agent.start();
        settle();
        provider.failures = 1;

        agent.close();
        agent.close();

        assertThat(provider.calls).containsExactly("close");
    }

    @Test
    void agent_startsAgain_updatesWhatRunsAndCreatesNothing() {
        create(pod("web"));
        NodeAgent first = fixture.agent(options -> options.runtime(provider));
        first.start();
        settle();
        first.close();
        provider.calls.clear();

        start(provider);

        assertThat(provider.calls).containsExactly("update web");
        assertThat(fixture.pod("web").getStatus().getPhase()).isEqualTo("Running");
    }

    @Test
    void threads_runAPodToItsEnd_andStopAnother() {
        CountDownLatch finish = new CountDownLatch(1);
        ThreadPods threads = new ThreadPods(Map.of(
                "greet",
                environment -> {
                    finish.await();
                    return "hello".equals(environment.get("GREETING")) ? 0 : 3;
                },
                "serve",
                environment -> {
                    new CountDownLatch(1).await(); // until it is interrupted
                    return 0;
                }));
        create(pod("greeter")
                .editSpec()
                .withRestartPolicy("Never")
                .editFirstContainer()
                .withImage("greet")
                .addNewEnv()
                .withName("GREETING")
                .withValue("hello")
                .endEnv()
                .endContainer()
                .endSpec());
        Pod server = create(pod("server")
                .editSpec()
                .editFirstContainer()
                .withImage("serve")
                .endContainer()
                .endSpec());
        start(threads);
        assertThat(fixture.pod("greeter").getStatus().getPhase()).isEqualTo("Running");

        finish.countDown();
        await().until(() -> {
            fixture.timekeeper.advance(Duration.ofMillis(100));
            return fixture.pod("greeter").getStatus().getPhase().equals("Succeeded");
        });

        fixture.server.cluster().delete(server);
        await().until(() -> {
            fixture.timekeeper.advance(Duration.ofMillis(100));
            return threads.pods().stream().noneMatch(pod -> pod.name().equals("server"));
        });
    }
}
