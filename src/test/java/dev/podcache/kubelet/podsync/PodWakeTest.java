package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.testing.Pods.withVolume;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What makes a pod be synced before its period is over, and what it then gets. */
@ExtendWith(NoLeaks.class)
class PodWakeTest {

    private static final HollowStage SLOW =
            new HollowStage(Map.of("speed", "slow"), Duration.ofSeconds(1), Duration.ZERO, 0);

    private final WorkersFixture node = new WorkersFixture(WorkersFixture.Options.DEFAULT.with(SLOW));

    @AfterEach
    void tearDown() {
        node.close();
    }

    private static PodBuilder never(String name) {
        return pod(name).editSpec().withRestartPolicy("Never").endSpec();
    }

    /** Ends the containers of a pod and has the runtime notify of that. */
    private void end(Pod pod) throws Exception {
        node.runtime.stopPod(PodReferences.key(pod), Duration.ZERO);
        node.workers.changed(pod.getMetadata().getUid());
        node.settle();
    }

    private static ConfigMap configMap(String name, String value) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .addToData("value", value)
                .build();
    }

    private static PodBuilder withConfigMap(PodBuilder pod, String configMap) {
        return pod.editSpec()
                .addNewVolume()
                .withName("v-" + configMap)
                .withNewConfigMap()
                .withName(configMap)
                .withDefaultMode(0644)
                .endConfigMap()
                .endVolume()
                .endSpec();
    }

    @Test
    void containerEnds_runtimeNotifies_isReportedAtOnce() throws Exception {
        node.start();
        Pod job = node.create(never("job"));

        end(job);

        assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
    }

    @Test
    void unknownPodChanges_isIgnored() {
        node.start();

        node.workers.changed("unknown");

        assertThat(node.runtime.asked()).isZero();
    }

    @Test
    void threeSlowInitContainers_takeTheirOwnTimeOnly() {
        node.start();
        node.create(pod("web")
                .editMetadata()
                .addToLabels("speed", "slow")
                .endMetadata()
                .editSpec()
                .addNewInitContainer()
                .withName("one")
                .endInitContainer()
                .addNewInitContainer()
                .withName("two")
                .endInitContainer()
                .addNewInitContainer()
                .withName("three")
                .endInitContainer()
                .endSpec());

        node.timekeeper.advance(Duration.ofSeconds(4));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void readinessGateIsSet_countsAtOnce() {
        node.start();
        node.create(pod("web").editSpec().addNewReadinessGate("lb").endSpec());
        assertThat(ready("web")).isEqualTo("False");

        node.server
                .cluster()
                .updateStatus(new PodBuilder(node.server.cluster().get(Pod.class, "shop", "web"))
                        .editStatus()
                        .addToConditions(new PodConditionBuilder()
                                .withType("lb")
                                .withStatus("True")
                                .build())
                        .endStatus()
                        .build());
        node.settle();

        assertThat(ready("web")).isEqualTo("True");
    }

    private String ready(String pod) {
        return node.status(pod).getConditions().stream()
                .filter(condition -> condition.getType().equals("Ready"))
                .map(condition -> condition.getStatus())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void runtimeSaysThatAContainerIsNotReady_countsAtOnceAndInLaterSyncs_untilItSaysOtherwise() {
        node.start();
        String uid = node.create(pod("web")).getMetadata().getUid();
        assertThat(ready("web")).isEqualTo("True");

        node.runtime.notReady = true;
        node.workers.changed(uid);
        node.settle();
        assertThat(node.container("web", "main").getReady()).isFalse();
        assertThat(ready("web")).isEqualTo("False");
        node.timekeeper.advance(WorkersFixture.SYNC.multipliedBy(3));
        assertThat(ready("web")).isEqualTo("False");

        node.runtime.notReady = false;
        node.workers.changed(uid);
        node.settle();
        assertThat(ready("web")).isEqualTo("True");
    }

    @Test
    void jobWithASidecar_sidecarIsStoppedWhenTheJobHasEnded() throws Exception {
        node.start();
        Pod job = node.create(never("job")
                .editSpec()
                .addNewInitContainer()
                .withName("proxy")
                .withRestartPolicy("Always")
                .endInitContainer()
                .endSpec());

        node.runtime.stopContainer(PodReferences.key(job), "main", Duration.ZERO);
        node.workers.changed(job.getMetadata().getUid());
        node.settle();

        assertThat(node.runtime.calls).containsSubsequence("stop job/proxy in 30", "stop job in 30");
        assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
        assertThat(node.status("job")
                        .getInitContainerStatuses()
                        .get(0)
                        .getState()
                        .getTerminated())
                .isNotNull();
    }

    @Test
    void oneConfigMapIsMissing_otherVolumesAreUpdated() {
        node.secret("certs", "one");
        node.server.cluster().create(configMap("settings", "a"));
        node.start();
        node.create(withConfigMap(withVolume(pod("web"), "certs"), "settings"));

        node.server.cluster().delete(configMap("settings", "a"));
        node.server.cluster().update(Secrets.of("shop", "certs", "two"));
        node.settle();

        assertThat(node.runtime.mounted("v-certs", "value")).isEqualTo("two");
        assertThat(node.runtime.isMounted("v-settings")).isFalse();
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void tokenIsRefused_eventSaysSo_andThePodWaits() {
        node.tokenRequests.failure = FailureReason.FORBIDDEN;
        node.start();
        node.create(pod("web")
                .editSpec()
                .withServiceAccountName("default")
                .addNewVolume()
                .withName("token")
                .withNewProjected()
                .addNewSource()
                .withNewServiceAccountToken()
                .withPath("token")
                .withExpirationSeconds(3600L)
                .endServiceAccountToken()
                .endSource()
                .withDefaultMode(0644)
                .endProjected()
                .endVolume()
                .endSpec());

        assertThat(node.lines())
                .singleElement()
                .asString()
                .startsWith("Warning FailedMount MountVolume.SetUp failed for volume \"token\" : ");
        assertThat(node.waiting("web", "main")).startsWith("ContainerCreating");

        node.tokenRequests.failure = null;
        node.timekeeper.advance(Duration.ofSeconds(20));
        node.settle();

        assertThat(node.runtime.mounted("token", "token")).startsWith("token-");
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void subPathOfAnUnknownVariable_containerWaits() {
        node.secret("certs", "one");
        node.start();
        node.create(withVolume(pod("web"), "certs")
                .editSpec()
                .editFirstContainer()
                .addNewVolumeMount()
                .withName("v-certs")
                .withMountPath("/certs")
                .withSubPathExpr("$(UNKNOWN)/certs")
                .endVolumeMount()
                .endContainer()
                .endSpec());

        assertThat(node.waiting("web", "main")).startsWith("CreateContainerConfigError: ");
        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void changedImage_restartsTheContainer() {
        node.start();
        node.create(pod("web"));

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

        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web/main in 30", "start web/main");
        assertThat(node.container("web", "main").getRestartCount()).isEqualTo(1);
        assertThat(node.lines()).containsExactly("Normal Killing Container main definition changed, will be restarted");
    }

    @Test
    void activeDeadlinePasses_podIsStoppedAndFails() {
        node.start();
        node.create(pod("web").editSpec().withActiveDeadlineSeconds(20L).endSpec());

        node.timekeeper.advance(Duration.ofSeconds(20));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Failed");
        assertThat(node.status("web").getReason()).isEqualTo("DeadlineExceeded");
        assertThat(node.runtime.calls).contains("stop web in 30");
        assertThat(node.lines())
                .contains("Normal DeadlineExceeded Pod was active on the node longer than the specified deadline");
    }
}
