package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.object.PodKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Newer features of pods on a whole agent with processes as containers, and an embedded API server. */
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class PodFeaturesTest {

    @TempDir
    private Path folder;

    private ServedAgent served;

    @BeforeEach
    void start(NoLeaks leaks) throws IOException, GeneralSecurityException {
        // the pod that each such agent has
        leaks.allowWarnings("runtime failed to start container main of pod shop/web");
        served =
                new ServedAgent(folder, NodeLeaseOptions.DEFAULT_DURATION, builder -> builder.runtime(this::processes));
    }

    private ProcessRuntime processes(Timekeeper timekeeper) {
        return ProcessRuntime.in(folder.resolve("runtime"), timekeeper);
    }

    @AfterEach
    void stop() throws IOException, InterruptedException {
        served.close();
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = processes(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        }
    }

    private static Container script(String name, String script) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("none")
                .withCommand("sh", "-c", script)
                .build();
    }

    private static PodBuilder pod(String name, String script) {
        return Pods.assigned(ServedAgent.NODE, name)
                .editSpec()
                .withTerminationGracePeriodSeconds(1L)
                .withContainers(script("main", script))
                .endSpec();
    }

    private PodStatus status(String pod) {
        PodStatus status = served.cluster.get(Pod.class, "shop", pod).getStatus();
        return status == null ? new PodStatus() : status;
    }

    private String condition(String pod, String type) {
        return status(pod).getConditions().stream()
                .filter(each -> type.equals(each.getType()))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("absent");
    }

    private String logs(String pod, String container) throws Exception {
        return served.https("/containerLogs/shop/" + pod + "/" + container).body();
    }

    @Test
    void pod_isReadyToStartContainersWhileItRuns() {
        served.cluster.create(pod("job", "sleep 0.5")
                .editSpec()
                .withRestartPolicy("Never")
                .endSpec()
                .build());

        await().until(() -> "True".equals(condition("job", "PodReadyToStartContainers")));
        await().until(() -> "Succeeded".equals(status("job").getPhase()));
        assertThat(condition("job", "PodReadyToStartContainers")).isEqualTo("False");
    }

    private static PodBuilder withEnvFile(PodBuilder pod, String file, String key) {
        VolumeMount mount = new VolumeMountBuilder()
                .withName("config")
                .withMountPath("/config")
                .build();
        return pod.editSpec()
                .addNewVolume()
                .withName("config")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .addToInitContainers(
                        new ContainerBuilder(script("write", "cat >config/vars.env <<\"END\"\n" + file + "\nEND\n"))
                                .withVolumeMounts(mount)
                                .build())
                .editFirstContainer()
                .addNewEnv()
                .withName("FROM_FILE")
                .withNewValueFrom()
                .withNewFileKeyRef(key, null, "vars.env", "config")
                .endValueFrom()
                .endEnv()
                .endContainer()
                .endSpec();
    }

    @Test
    void container_getsAVariableFromAFileOfItsInitContainer() throws Exception {
        served.cluster.create(withEnvFile(
                        pod("configured", "echo $FROM_FILE; exec sleep 600"),
                        "# made by an init container\nOTHER='1'\nTOKEN='from a file'",
                        "TOKEN")
                .build());

        await().until(() -> logs("configured", "main").equals("from a file\n"));
        // what a container writes may be read before its status is reported
        await().until(() -> "Running".equals(status("configured").getPhase()));
    }

    @Test
    void containerWhoseFileIsMalformed_waits_withoutItsContent() {
        served.cluster.create(withEnvFile(pod("malformed", "exec sleep 600"), "TOKEN=" + NoLeaks.CANARY, "TOKEN")
                .build());

        await().until(() ->
                "CreateContainerConfigError".equals(waiting("malformed").getReason()));
        assertThat(waiting("malformed").getMessage())
                .isEqualTo(
                        "couldn't parse env file \"vars.env\" of volume \"config\": invalid environment variable format"
                                + " at line 1: value must be enclosed in single quotes");
    }

    private ContainerStateWaiting waiting(String pod) {
        return status(pod).getContainerStatuses().stream()
                .map(each -> each.getState().getWaiting())
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(ContainerStateWaiting::new);
    }

    @Test
    void debugger_isAddedThroughTheApi_runsOnce_andHasLogs() throws Exception {
        served.cluster.create(pod("web-1", "exec sleep 600").build());
        await().until(() -> "Running".equals(status("web-1").getPhase()));

        PodResource web = served.client.pods().inNamespace("shop").withName("web-1");
        web.ephemeralContainers()
                .edit(found -> new PodBuilder(found)
                        .editSpec()
                        .addNewEphemeralContainer()
                        .withName("debug")
                        .withImage("none")
                        .withTargetContainerName("main")
                        .withCommand("sh", "-c", "echo debugging; exit 7")
                        .endEphemeralContainer()
                        .endSpec()
                        .build());

        await().until(() -> status("web-1").getEphemeralContainerStatuses().stream()
                .anyMatch(each -> each.getState().getTerminated() != null));
        ContainerStatus ended = status("web-1").getEphemeralContainerStatuses().get(0);
        assertThat(ended.getState().getTerminated().getExitCode()).isEqualTo(7);
        assertThat(ended.getRestartCount()).isZero();
        assertThat(logs("web-1", "debug")).isEqualTo("debugging\n");
        assertThat(condition("web-1", "Ready")).isEqualTo("True");
        await().until(() -> served.client.v1().events().inNamespace("shop").list().getItems().stream()
                .anyMatch(event -> "spec.ephemeralContainers{debug}"
                                .equals(event.getInvolvedObject().getFieldPath())
                        && event.getReason().equals("Started")));
    }

    @Test
    void container_knowsTheHostnameOfItsPod_ofWhichTheFullNameMayBeTooLong() throws Exception {
        String script = "echo name $HOSTNAME; exec sleep 600";
        served.cluster.create(pod("named", script)
                .editSpec()
                .withHostname("db-0")
                .withSubdomain("db")
                .withSetHostnameAsFQDN(true)
                .endSpec()
                .build());
        served.cluster.create(pod("overridden", script)
                .editSpec()
                .withHostnameOverride("db.example.org")
                .endSpec()
                .build());
        served.cluster.create(pod("long", script)
                .editSpec()
                .withHostname("a".repeat(60))
                .withSubdomain("db")
                .withSetHostnameAsFQDN(true)
                .endSpec()
                .build());

        await().until(() -> logs("named", "main").equals("name db-0.db.shop.svc.cluster.local\n"));
        await().until(() -> logs("overridden", "main").equals("name db.example.org\n"));
        await().until(() -> "CreateContainerConfigError".equals(waiting("long").getReason()));
        assertThat(waiting("long").getMessage())
                .startsWith("failed to construct FQDN from pod hostname and cluster domain, FQDN aaa")
                .endsWith("is too long (64 characters is the max, 86 characters requested)");
    }
}
