package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
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
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What a real server makes of newer features of pods, on a node that runs containers as processes. */
@RealServerTest
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class PodFeaturesRealServerTest {

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("features");
    private final String node = "node-of-" + namespace;
    private final KubernetesClient admin = real.client();
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(own);
    private @Nullable ProcessRuntime runtime;
    private @Nullable NodeAgent agent;

    private ProcessRuntime runtime(Timekeeper timekeeper) {
        ProcessRuntime made = ProcessRuntime.in(home.resolve("runtime"), timekeeper);
        runtime = made;
        return made;
    }

    @BeforeEach
    void startAgent(NoLeaks leaks) {
        // a busy machine
        leaks.allowWarnings("no answer from");
        NodeAgent started = new NodeAgentBuilder(
                        options -> new WithoutServices(new Fabric8AgentServer(server, false, options)))
                .node(node)
                .runtime(this::runtime)
                .withoutServer()
                .build();
        agent = started;
        started.start();
    }

    @AfterEach
    void stop() throws Exception {
        if (agent != null) {
            agent.close();
        }
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = runtime(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        }
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        server.close();
        own.close();
        admin.close();
    }

    private static Container container(String name, String script) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("none")
                .withCommand("sh", "-c", script)
                .build();
    }

    private PodBuilder pod(String name, String script) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                // defaults that a stand-in does not set
                .withRestartPolicy("Always")
                .withTerminationGracePeriodSeconds(1L)
                .withEnableServiceLinks(true)
                .withAutomountServiceAccountToken(false)
                .withContainers(container("main", script))
                .endSpec();
    }

    private PodResource resource(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod);
    }

    private PodStatus status(String pod) {
        return resource(pod).get().getStatus();
    }

    private String condition(String pod, String type) {
        return status(pod).getConditions().stream()
                .filter(each -> type.equals(each.getType()))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("absent");
    }

    private String logs(String pod, String container) throws IOException {
        PodKey key = PodKey.of(namespace, pod, resource(pod).get().getMetadata().getUid());
        if (runtime == null) {
            return "";
        }
        try (InputStream logs = runtime.logs(key, container, LogOptions.ALL)) {
            return new String(logs.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void job_isReadyToStartContainersUntilItHasSucceeded() {
        admin.resource(pod("job", "sleep 0.5")
                        .editSpec()
                        .withRestartPolicy("Never")
                        .endSpec()
                        .build())
                .create();

        await().until(() -> "True".equals(condition("job", "PodReadyToStartContainers")));
        await().until(() -> "Succeeded".equals(status("job").getPhase()));
        assertThat(condition("job", "PodReadyToStartContainers")).isEqualTo("False");
    }

    @Test
    void container_knowsTheFullNameOfItsPod() throws IOException {
        admin.resource(pod("web", "echo name $HOSTNAME; exec sleep 600")
                        .editSpec()
                        .withHostname("db-0")
                        .withSubdomain("db")
                        .withSetHostnameAsFQDN(true)
                        .endSpec()
                        .build())
                .create();

        await().until(() -> "Running".equals(status("web").getPhase()));
        await().until(() -> logs("web", "main").equals("name db-0.db." + namespace + ".svc.cluster.local\n"));
    }

    @Test
    @Needs(ServerFeature.HOSTNAME_OVERRIDE)
    void container_knowsTheNameThatOverridesIt() throws IOException {
        admin.resource(pod("web", "echo name $HOSTNAME; exec sleep 600")
                        .editSpec()
                        .withHostnameOverride("db.example.org")
                        .endSpec()
                        .build())
                .create();

        await().until(() -> "Running".equals(status("web").getPhase()));
        await().until(() -> logs("web", "main").equals("name db.example.org\n"));
    }

    @Test
    @Needs(ServerFeature.FILE_KEY_REF)
    void container_getsAVariableFromAFileOfItsInitContainer() throws IOException {
        VolumeMount mount = new VolumeMountBuilder()
                .withName("config")
                .withMountPath("/config")
                .build();
        admin.resource(pod("web", "echo $FROM_FILE; exec sleep 600")
                        .editSpec()
                        .addNewVolume()
                        .withName("config")
                        .withNewEmptyDir()
                        .endEmptyDir()
                        .endVolume()
                        .addToInitContainers(new ContainerBuilder(
                                        container("write", "echo \"TOKEN='from a file'\" >config/vars.env"))
                                .withVolumeMounts(mount)
                                .build())
                        .editFirstContainer()
                        .addNewEnv()
                        .withName("FROM_FILE")
                        .withNewValueFrom()
                        .withNewFileKeyRef("TOKEN", null, "vars.env", "config")
                        .endValueFrom()
                        .endEnv()
                        .endContainer()
                        .endSpec()
                        .build())
                .create();

        await().until(() -> "Running".equals(status("web").getPhase()));
        await().until(() -> logs("web", "main").equals("from a file\n"));
    }

    private void debug(String pod) {
        String patch = "{\"spec\":{\"ephemeralContainers\":[{\"name\":\"debug\",\"image\":\"none\","
                + "\"targetContainerName\":\"main\",\"command\":[\"sh\",\"-c\",\"echo debugging; exit 7\"]}]}}";
        try {
            resource(pod).subresource("ephemeralcontainers").patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
        } catch (KubernetesClientException e) {
            // a stand-in lets anybody change a spec
            assertThat(e.getCode()).isEqualTo(404);
            resource(pod).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
        }
    }

    @Test
    @Needs(ServerFeature.EPHEMERAL_CONTAINERS)
    void debugger_runsOnce_andIsReported() throws IOException {
        admin.resource(pod("web", "exec sleep 600").build()).create();
        await().until(() -> "Running".equals(status("web").getPhase()));

        debug("web");

        await().until(() -> status("web").getEphemeralContainerStatuses().stream()
                .anyMatch(each -> each.getState().getTerminated() != null));
        ContainerStatus ended = status("web").getEphemeralContainerStatuses().get(0);
        assertThat(ended.getState().getTerminated().getExitCode()).isEqualTo(7);
        assertThat(ended.getReady()).isFalse();
        assertThat(logs("web", "debug")).isEqualTo("debugging\n");
        assertThat(condition("web", "Ready")).isEqualTo("True");
    }
}
