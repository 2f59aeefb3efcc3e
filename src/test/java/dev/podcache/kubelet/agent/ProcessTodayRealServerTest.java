package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.podconfig.Removal;
import dev.podcache.kubelet.runtime.ImagePull;
import dev.podcache.kubelet.runtime.ImagePullException;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a kubelet of today does with pods, on a node that runs containers as processes: restart rules, a reboot, a resize, an
 * image that cannot be pulled at first, pods that are refused.
 */
@RealServerTest
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessTodayRealServerTest {

    private static final ContainerStatus NOT_REPORTED = new ContainerStatusBuilder()
            .withRestartCount(0)
            .withNewState()
            .endState()
            .build();

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("today");
    private final String node = "node-of-" + namespace;
    private final KubernetesClient admin = real.client();
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(own);
    private final AtomicInteger failingPulls = new AtomicInteger();
    private @Nullable NodeAgent agent;

    /** Processes whose images are pulled from a registry that is away at first. */
    private final class PulledProcesses implements PodRuntime, ImagePull {

        private final ProcessRuntime processes;

        PulledProcesses(ProcessRuntime processes) {
            this.processes = processes;
        }

        @Override
        public void pull(Pod pod, Container container, List<Secret> pullSecrets) throws ImagePullException {
            if (failingPulls.getAndDecrement() > 0) {
                throw new ImagePullException("registry is away");
            }
        }

        @Override
        public String type() {
            return processes.type();
        }

        @Override
        public void listen(RuntimeEvents events) {
            processes.listen(events);
        }

        @Override
        public RuntimeStatus health() {
            return processes.health();
        }

        @Override
        public List<PodKey> pods() {
            return processes.pods();
        }

        @Override
        public PodState status(Pod pod) {
            return processes.status(pod);
        }

        @Override
        public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException {
            processes.mount(pod, volumes);
        }

        @Override
        public void startContainer(Pod pod, Container container, Launch launch)
                throws IOException, InterruptedException {
            processes.startContainer(pod, container, launch);
        }

        @Override
        public void stopContainer(PodKey pod, String container, Duration gracePeriod)
                throws IOException, InterruptedException {
            processes.stopContainer(pod, container, gracePeriod);
        }

        @Override
        public void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
            processes.stopPod(pod, gracePeriod);
        }

        @Override
        public void forget(PodKey pod) throws IOException {
            processes.forget(pod);
        }
    }

    private ProcessRuntime runtime(Timekeeper timekeeper) {
        return ProcessRuntime.in(home.resolve("runtime"), timekeeper);
    }

    @BeforeEach
    void startAgent(NoLeaks leaks) {
        // a busy machine
        leaks.allowWarnings("no answer from");
        startAgent();
    }

    private void startAgent() {
        agent = new NodeAgentBuilder(options -> new WithoutServices(new Fabric8AgentServer(server, false, options)))
                .node(node)
                .runtime(time -> new PulledProcesses(runtime(time)))
                .capacity(Map.of("cpu", new Quantity("4"), "memory", new Quantity("8Gi")))
                .admission(pod -> pod.getMetadata().getName().equals("unwanted")
                        ? Optional.of(new PodRejection("Unwanted", "this node runs no such pods"))
                        : Optional.empty())
                .withoutServer()
                .build();
        agent.start();
    }

    @AfterEach
    void stop() throws Exception {
        if (agent != null) {
            agent.close();
        }
        killAll();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        server.close();
        own.close();
        admin.close();
    }

    private void killAll() throws Exception {
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = runtime(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        }
    }

    private PodBuilder pod(String name, String policy) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withRestartPolicy(policy)
                // defaults that a stand-in does not set
                .withTerminationGracePeriodSeconds(1L)
                .withEnableServiceLinks(true)
                .withAutomountServiceAccountToken(false)
                .addNewVolume()
                .withName("shared")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .endSpec();
    }

    private static Container container(String name, String script) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("registry/" + name + ":1")
                .withImagePullPolicy("IfNotPresent")
                .withCommand("sh", "-c", script)
                .addNewVolumeMount()
                .withName("shared")
                .withMountPath("/shared")
                .endVolumeMount()
                .build();
    }

    private static PodBuilder with(PodBuilder pod, Container container) {
        return pod.editSpec().addToContainers(container).endSpec();
    }

    private void create(PodBuilder pod) {
        admin.resource(pod.build()).create();
    }

    private PodStatus status(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod).get().getStatus();
    }

    private ContainerStatus main(String pod) {
        List<ContainerStatus> reported = status(pod).getContainerStatuses();
        return reported.isEmpty() ? NOT_REPORTED : reported.get(0);
    }

    private List<String> events(String pod) {
        return admin.v1().events().inNamespace(namespace).list().getItems().stream()
                .filter(event -> pod.equals(event.getInvolvedObject().getName()))
                .map(event -> event.getReason() + ": " + event.getMessage())
                .toList();
    }

    @Test
    void imageCannotBePulledTwice_isShown_andThenTheContainerRuns_withTheEventsOfAKubelet(NoLeaks leaks) {
        leaks.allowWarnings("was not pulled; retrying");
        failingPulls.set(2);
        create(with(pod("pulled", "Always"), container("main", "exec sleep 600")));

        await().until(() -> {
            String reason = main("pulled").getState().getWaiting() == null
                    ? ""
                    : main("pulled").getState().getWaiting().getReason();
            return reason.equals("ErrImagePull") || reason.equals("ImagePullBackOff");
        });
        await().until(() -> "Running".equals(status("pulled").getPhase()));
        await().until(() -> events("pulled").stream().anyMatch(event -> event.startsWith("Started: ")));

        assertThat(events("pulled"))
                .contains(
                        "Pulling: Pulling image \"registry/main:1\"",
                        "Failed: Failed to pull image \"registry/main:1\": registry is away",
                        "Failed: Error: ErrImagePull",
                        "Created: Container created",
                        "Started: Container started")
                .anyMatch(event -> event.startsWith("Pulled: Successfully pulled image \"registry/main:1\" in "));
    }

    @Test
    void podsThatDoNotFit_areRefusedForGood_andOthersRun() {
        create(with(
                pod("large", "Always"),
                new ContainerBuilder(container("main", "exec sleep 600"))
                        .withNewResources()
                        .addToRequests("cpu", new Quantity("5"))
                        .endResources()
                        .build()));
        create(with(pod("unwanted", "Always"), container("main", "exec sleep 600")));
        create(with(pod("fits", "Always"), container("main", "exec sleep 600")));

        await().until(() -> "Failed".equals(status("large").getPhase()));
        assertThat(status("large").getReason()).isEqualTo("OutOfcpu");
        assertThat(status("large").getMessage())
                .startsWith(
                        "Pod was rejected: Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: ");
        await().until(() -> "Failed".equals(status("unwanted").getPhase()));
        assertThat(status("unwanted").getReason()).isEqualTo("Unwanted");
        assertThat(status("unwanted").getMessage()).isEqualTo("Pod was rejected: this node runs no such pods");
        await().until(() -> "Running".equals(status("fits").getPhase()));
    }

    @Test
    void podsThatAskForHostAliasesOrDnsConfig_areRefusedByName() {
        create(with(
                pod("aliases", "Always")
                        .editSpec()
                        .addNewHostAlias()
                        .withIp("10.0.0.1")
                        .withHostnames("db")
                        .endHostAlias()
                        .endSpec(),
                container("main", "exec sleep 600")));
        create(with(
                pod("resolver", "Always")
                        .editSpec()
                        .withNewDnsConfig()
                        .addToSearches("shop.example")
                        .endDnsConfig()
                        .endSpec(),
                container("main", "exec sleep 600")));

        await().until(() -> "HostAliasesNotSupported".equals(status("aliases").getReason()));
        await().until(() -> "DNSConfigNotSupported".equals(status("resolver").getReason()));
        assertThat(status("aliases").getMessage())
                .isEqualTo("Pod was rejected: hostAliases is not supported in this node");
        assertThat(status("resolver").getMessage())
                .isEqualTo("Pod was rejected: dnsConfig is not supported in this node");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Always", "OnFailure"})
    void machineIsRebooted_directoryIsGone_initContainerFillsTheVolumeAgain(String policy) throws Exception {
        create(with(pod("web", policy), container("main", "cat shared/page || exit 9; exec sleep 600"))
                .editSpec()
                .addToInitContainers(container("fill", "sleep 0.5; echo hello >shared/page"))
                .endSpec());
        await().until(() -> main("web").getState().getRunning() != null);

        if (agent != null) {
            agent.close();
        }
        killAll();
        Removal.of(home.resolve("runtime"));
        startAgent();

        await().until(() ->
                main("web").getRestartCount() >= 1 && main("web").getState().getRunning() != null);
        ContainerStatus init = status("web").getInitContainerStatuses().get(0);
        assertThat(init.getRestartCount()).isEqualTo(1);
        assertThat(init.getState().getTerminated().getExitCode()).isZero();
        assertThat(main("web").getLastState().getTerminated().getExitCode()).isEqualTo(137);
        assertThat(main("web").getRestartCount()).isEqualTo(1);
    }

    @Test
    @Needs(ServerFeature.RESTART_RULES)
    void jobWhoseContainerHasARestartRule_isRestartedForItsExitCode_andSucceeds() {
        create(with(
                pod("job", "Never"),
                new ContainerBuilder(container("main", "[ -e shared/again ] || { >shared/again; exit 42; }"))
                        .withRestartPolicy("Never")
                        .addNewRestartPolicyRule()
                        .withAction("Restart")
                        .withNewExitCodes()
                        .withOperator("In")
                        .withValues(42)
                        .endExitCodes()
                        .endRestartPolicyRule()
                        .build()));

        await().until(() -> "Succeeded".equals(status("job").getPhase()));

        assertThat(main("job").getRestartCount()).isEqualTo(1);
        assertThat(main("job").getLastState().getTerminated().getExitCode()).isEqualTo(42);
    }

    private void resize(String patch) {
        PodResource web = admin.pods().inNamespace(namespace).withName("web");
        try {
            web.subresource("resize").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
        } catch (KubernetesClientException e) {
            // a stand-in lets anybody change a spec
            assertThat(e.getCode()).isEqualTo(404);
            web.patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
        }
    }

    @Test
    @Needs(ServerFeature.RESIZE)
    void podIsResized_isInfeasible_andKeepsWhatItHas() {
        create(with(
                pod("web", "Always"),
                new ContainerBuilder(container("main", "exec sleep 600"))
                        .withNewResources()
                        .addToRequests("cpu", new Quantity("1"))
                        .endResources()
                        .build()));
        await().until(() -> main("web").getState().getRunning() != null);

        resize("{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}");

        await().until(() -> status("web").getConditions().stream()
                .anyMatch(condition ->
                        condition.getType().equals("PodResizePending") && "Infeasible".equals(condition.getReason())));
        assertThat(main("web").getResources().getRequests()).containsEntry("cpu", new Quantity("1"));
        assertThat(main("web").getRestartCount()).isZero();
    }
}
