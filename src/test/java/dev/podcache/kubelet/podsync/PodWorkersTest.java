package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.kubelet.podsync.WorkersFixture.withEnvFrom;
import static dev.podcache.testing.Pods.withVolume;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjection;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjectionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods from their assignment to their end. Everything is real except the containers and the network. */
@ExtendWith(NoLeaks.class)
class PodWorkersTest {

    private final WorkersFixture node = new WorkersFixture();

    @AfterEach
    void tearDown() {
        node.close();
    }

    @Test
    void assignedPod_configurationIsThere_isReportedRunning() {
        node.secret("db", "s3cret");
        node.start();
        node.create(withEnvFrom(pod("web"), "db"));

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.container("web", "main").getReady()).isTrue();
        assertThat(node.runtime.environment("main")).containsEntry("value", "s3cret");
    }

    @Test
    void podComesAfterClose_isLeftAlone() {
        node.workers.close();
        node.assigned.upsert(new Fetched<>(node.create(pod("web")), "1", 1));
        node.timekeeper.advance(WorkersFixture.SYNC);

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void secretOfEnvironmentMissing_waitsWithTheKubeletsMessage() {
        node.start();
        node.create(withEnvFrom(pod("web"), "db"));

        assertThat(node.status("web").getPhase()).isEqualTo("Pending");
        assertThat(node.waiting("web", "main")).isEqualTo("CreateContainerConfigError: secret \"db\" not found");
        assertThat(node.lines()).containsExactly("Warning Failed Error: secret \"db\" not found");
        assertThat(node.events.events().get(0).about().getFieldPath()).isEqualTo("spec.containers{main}");
        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void secretAppears_containerRunsAtOnce() {
        node.start();
        node.create(withEnvFrom(pod("web"), "db"));

        node.secret("db", "s3cret");
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void waitingForASecret_makesNoRequestAndRepeatsNoEvent() {
        node.start();
        node.create(withEnvFrom(pod("web"), "db"));
        node.server.clearActions();
        int asked = node.runtime.asked();

        node.timekeeper.advance(Duration.ofMinutes(1));

        assertThat(node.runtime.asked()).isGreaterThan(asked + 3);
        assertThat(node.server.actions()).isEmpty();
        assertThat(node.lines()).hasSize(1);
    }

    @Test
    void volumeSecretMissing_noContainerStarts() {
        node.start();
        node.create(withVolume(pod("web"), "certs"));

        assertThat(node.waiting("web", "main")).startsWith("ContainerCreating");
        assertThat(node.lines())
                .containsExactly("Warning FailedMount MountVolume.SetUp failed for volume \"v-certs\" :"
                        + " secret \"certs\" not found");
    }

    @Test
    void volumeSecretChanges_runtimeGetsItAtOnce() {
        node.secret("certs", "one");
        node.start();
        node.create(withVolume(pod("web"), "certs"));

        node.server.cluster().update(Secrets.of("shop", "certs", "two"));
        node.settle();

        assertThat(node.runtime.mounted("v-certs", "value")).isEqualTo("two");
    }

    private static PodBuilder trusting(String name, ClusterTrustBundleProjection bundle) {
        return pod(name)
                .editSpec()
                .addNewVolume()
                .withName("trust")
                .withNewProjected()
                .withDefaultMode(0644)
                .addNewSource()
                .withClusterTrustBundle(bundle)
                .endSource()
                .endProjected()
                .endVolume()
                .endSpec();
    }

    private static String pem(int content) {
        return PemText.of("CERTIFICATE", new byte[] {(byte) content});
    }

    @Test
    void trustBundleMissing_noContainerStarts_untilItIsThere() {
        node.start();
        node.create(trusting(
                "web",
                new ClusterTrustBundleProjectionBuilder()
                        .withName("roots")
                        .withPath("ca.pem")
                        .build()));

        assertThat(node.waiting("web", "main")).startsWith("ContainerCreating");
        assertThat(node.lines())
                .containsExactly("Warning FailedMount MountVolume.SetUp failed for volume \"trust\" : while getting"
                        + " ClusterTrustBundle: clustertrustbundle.certificates.k8s.io \"roots\" not found");

        node.trustBundles.put(FakeTrustBundles.bundle("roots", null, Map.of(), pem(1)));
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.runtime.mounted("trust", "ca.pem")).isEqualTo(pem(1));
    }

    @Test
    void trustBundleChanges_byNameOrBySigner_runtimeGetsItAtOnce() {
        node.trustBundles.put(FakeTrustBundles.bundle("roots", "example.com/signer", Map.of(), pem(1)));
        node.start();
        for (ClusterTrustBundleProjection each : List.of(
                new ClusterTrustBundleProjectionBuilder()
                        .withName("roots")
                        .withPath("ca.pem")
                        .build(),
                new ClusterTrustBundleProjectionBuilder()
                        .withSignerName("example.com/signer")
                        .withNewLabelSelector()
                        .endLabelSelector()
                        .withPath("ca.pem")
                        .build())) {
            node.trustBundles.put(FakeTrustBundles.bundle("roots", "example.com/signer", Map.of(), pem(1)));
            String name = each.getName() == null ? "signed" : "named";
            Pod pod = node.create(trusting(name, each));
            assertThat(node.runtime.mounted("trust", "ca.pem")).isEqualTo(pem(1));

            node.trustBundles.put(FakeTrustBundles.bundle("roots", "example.com/signer", Map.of(), pem(2)));
            node.settle();

            assertThat(node.runtime.mounted("trust", "ca.pem")).as(name).isEqualTo(pem(2));
            node.server.cluster().deleteNow(pod);
            node.settle();
        }
        assertThat(node.trustBundles.held()).isEmpty();
    }

    @Test
    void volumeSecretDeleted_runningPodGoesOnRunning() {
        node.secret("certs", "one");
        node.start();
        node.create(withVolume(pod("web"), "certs"));

        node.server.cluster().delete(Secrets.of("shop", "certs", ""));
        node.timekeeper.advance(WorkersFixture.SYNC);

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.lines()).hasSize(1);
    }

    @Test
    void oneContainerLacksConfig_theOtherRuns() {
        node.start();
        node.create(withEnvFrom(pod("web"), "db")
                .editSpec()
                .addNewContainer()
                .withName("side")
                .withImage("envoy")
                .endContainer()
                .endSpec());

        assertThat(node.waiting("web", "main")).startsWith("CreateContainerConfigError");
        assertThat(node.container("web", "side").getReady()).isTrue();
    }

    @Test
    void initContainers_runOneAfterTheOtherBeforeTheRest() {
        node.start();
        node.create(pod("web")
                .editSpec()
                .addNewInitContainer()
                .withName("one")
                .endInitContainer()
                .addNewInitContainer()
                .withName("side")
                .withRestartPolicy("Always")
                .endInitContainer()
                .addNewInitContainer()
                .withName("two")
                .endInitContainer()
                .endSpec());

        assertThat(node.runtime.calls)
                .containsExactly("start web/one", "start web/side", "start web/two", "start web/main");
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void initContainerLacksConfig_othersWaitForIt() {
        node.start();
        node.create(pod("web")
                .editSpec()
                .addNewInitContainer()
                .withName("init")
                .addNewEnvFrom()
                .withNewSecretRef("db", null)
                .endEnvFrom()
                .endInitContainer()
                .endSpec());

        assertThat(node.waiting("web", "main")).startsWith("PodInitializing");
        assertThat(node.runtime.calls).isEmpty();
        assertThat(node.events.events().get(0).about().getFieldPath()).isEqualTo("spec.initContainers{init}");
    }

    @Test
    void gracefulDeletion_stopsReportsAndRemovesThePod() {
        node.secret("db", "s3cret");
        node.start();
        Pod web = node.create(withEnvFrom(pod("web"), "db"));
        assertThat(node.server.openWatches()).isEqualTo(3);

        node.server.cluster().delete(web);
        node.settle();

        assertThat(node.runtime.calls).containsExactly("start web/main", "stop web in 30", "forget web");
        assertThat(node.exists("web")).isFalse();
        assertThat(node.known.all()).isEmpty();
        // the Secret's watch is closed
        assertThat(node.server.openWatches()).isEqualTo(2);
    }

    @Test
    void forcedDeletion_stopsAndForgetsThePod() {
        node.secret("db", "s3cret");
        node.start();
        Pod web = node.create(withEnvFrom(pod("web"), "db"));

        node.server.cluster().deleteNow(web);
        node.settle();

        assertThat(node.runtime.calls).contains("forget web");
        assertThat(node.server.openWatches()).isEqualTo(2);
    }

    @Test
    void podOfTheSameName_comesWhileTheOtherStops_keepsItsReferences() {
        node.secret("db", "s3cret");
        node.start();
        Pod first = node.create(withEnvFrom(pod("web"), "db"));
        node.runtime.duringStop = () -> {
            node.runtime.duringStop = null;
            node.create(withEnvFrom(pod("web"), "db"));
        };

        node.server.cluster().deleteNow(first);
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(Secrets.value(node.secrets.getObject("shop", "db"))).isEqualTo("s3cret");
        assertThat(node.server.openWatches()).isEqualTo(3);
    }

    @Test
    void podRunsToItsEnd_isReportedSucceededAndGivesBackItsReferences() throws Exception {
        node.secret("db", "s3cret");
        node.start();
        Pod job = node.create(withEnvFrom(pod("job"), "db")
                .editSpec()
                .withRestartPolicy("Never")
                .endSpec());

        node.runtime.stopPod(PodReferences.key(job), Duration.ZERO);
        node.timekeeper.advance(WorkersFixture.SYNC);

        assertThat(node.status("job").getPhase()).isEqualTo("Succeeded");
        assertThat(node.server.openWatches()).isEqualTo(2);
    }

    @Test
    void podThatHasEnded_isDeletedLater_isRemovedAtOnce() throws Exception {
        node.start();
        Pod job = node.create(pod("job").editSpec().withRestartPolicy("Never").endSpec());
        node.runtime.stopPod(PodReferences.key(job), Duration.ZERO);
        node.timekeeper.advance(WorkersFixture.SYNC);

        node.server.cluster().delete(job);
        node.settle();

        assertThat(node.exists("job")).isFalse();
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void closed_podThatIsGoneCouldNotBeStopped_isNotRetried() {
        node.start();
        Pod web = node.create(pod("web"));
        node.runtime.duringStop = () -> {
            throw new IllegalStateException("busy");
        };
        node.server.cluster().deleteNow(web);
        node.settle();
        node.stop();
        node.runtime.calls.clear();

        node.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(node.runtime.calls).isEmpty();
    }

    @Test
    void closed_failureOfARunningSync_isNoWarning() {
        node.start();
        Pod web = node.create(pod("web"));
        node.runtime.duringStop = () -> {
            node.workers.close();
            throw new IllegalStateException("the managers are closed");
        };

        node.server.cluster().deleteNow(web);
        node.settle();

        assertThat(node.runtime.calls).contains("stop web in 2");
    }

    @Test
    void podReappears_afterAListThatLaggedBehind_isSyncedAgain() {
        node.start();
        node.secret("env", "v");
        Pod web = node.create(withEnvFrom(pod("web"), "env"));

        node.assigned.replace(ImmutableList.of(), "1");
        node.assigned.upsert(new Fetched<>(web, "2", 0));
        node.settle();
        node.timekeeper.advance(Duration.ofMinutes(2));

        assertThat(node.known.get(web.getMetadata().getUid())).isPresent();
        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.secrets.getObject("shop", "env")).isNotNull();
    }

    @Test
    void ownReport_isNoReasonToSync() {
        node.start();
        node.create(pod("web"));
        int asked = node.runtime.asked();

        Pod reported = node.server.cluster().get(Pod.class, "shop", "web");
        node.server
                .cluster()
                .updateStatus(new PodBuilder(reported)
                        .editStatus()
                        .withMessage("somebody else's")
                        .endStatus()
                        .build());

        assertThat(node.runtime.asked()).isEqualTo(asked);
    }

    @Test
    void anHourWithoutAChange_makesNoRequest() {
        node.secret("db", "s3cret");
        node.start();
        for (int i = 0; i < 20; i++) {
            node.create(withVolume(withEnvFrom(pod("web-" + i), "db"), "db"));
        }
        node.server.clearActions();

        node.timekeeper.advance(Duration.ofMinutes(25));

        assertThat(node.server.actions()).isEmpty();
    }

    @Test
    @ExpectedWarnings("pod shop/ghost has no UID, so it does not run on this node")
    void podWithoutUid_isIgnoredAndHarmsNoOther() {
        node.start();
        node.create(pod("web"));
        Pod nameless = pod("ghost").build();
        node.assigned.upsert(new Fetched<>(nameless, "1", 0));

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
    }

    @Test
    void closed_podsStayAsTheyAre() {
        node.start();
        node.create(pod("web"));
        node.stop();
        node.server.clearActions();
        node.runtime.calls.clear();

        node.server.cluster().create(pod("late").build());
        node.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(node.runtime.calls).isEmpty();
        assertThat(node.server.actions()).noneMatch(action -> action.kind().equals(ObjectKind.POD));
    }
}
