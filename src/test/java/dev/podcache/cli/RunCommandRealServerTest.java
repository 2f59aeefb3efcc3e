package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ObjectArrays;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code run} with a kubelet's identity, where the Node authorizer and the NodeRestriction
 * plugin decide what it may do.
 */
@RealServerTest
@ExtendWith(NoLeaks.class)
class RunCommandRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(RunCommandRealServerTest.class);
    private static final String NOT_READY = "node.kubernetes.io/not-ready";
    private static final String CONFIGURATION = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            # the lease is renewed every 2 s
            nodeLeaseDurationSeconds: 8
            nodeStatusUpdateFrequency: 1s
            nodeStatusReportFrequency: 5m
            maxPods: 120
            systemReserved: {cpu: 100m, memory: 64Mi}
            registerWithTaints:
            - {key: dedicated, value: tests, effect: NoSchedule}
            """;

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.restartable();
    private final RealNode hollow = new RealNode(real, "hollow");
    private CapturedConsole console = new CapturedConsole(Path.of(""));
    private CompletableFuture<Integer> running = CompletableFuture.completedFuture(0);

    /** With so short a lease a heartbeat has two thirds of a second, in which a busy server may not answer. */
    @BeforeEach
    void allowLateAnswers(NoLeaks leaks) {
        leaks.allowWarnings("no answer from");
        leaks.allowWarnings("could not be renewed in 5 tries");
        if (!real.has(ServerFeature.SERVICES)) {
            leaks.allowWarnings("watch of Services failed");
        }
    }

    @BeforeEach
    void configure() throws IOException {
        Files.writeString(
                home.resolve("kubelet.yaml"),
                CONFIGURATION + "port: " + FreePorts.find(1).get(0) + "\n");
    }

    @AfterEach
    void endAgent() throws Exception {
        stop();
        hollow.close();
    }

    private void run(String... more) {
        console = new CapturedConsole(home);
        CapturedConsole used = console;
        String[] command = {
            "run",
            "--hostname-override",
            hollow.name,
            "--kubeconfig",
            hollow.kubeconfig().toString(),
            "--config",
            home.resolve("kubelet.yaml").toString(),
            "--node-labels",
            "disk=ssd"
        };
        running = CompletableFuture.supplyAsync(
                () -> used.execute(ObjectArrays.concat(command, more, String.class)), NewThread.EACH);
        await().until(() -> ready().equals("True"));
    }

    private int stop() throws Exception {
        console.stop();
        return running.get(60, TimeUnit.SECONDS);
    }

    private String ready() {
        Node node = hollow.node();
        return node == null
                ? "no node"
                : node.getStatus().getConditions().stream()
                        .filter(condition -> condition.getType().equals("Ready"))
                        .map(condition -> condition.getStatus())
                        .findFirst()
                        .orElse("none");
    }

    private String phase(String pod) {
        return String.valueOf(hollow.pod(pod).getStatus().getPhase());
    }

    private ZonedDateTime renewTime() {
        return hollow.lease().getSpec().getRenewTime();
    }

    @Test
    @Needs({ServerFeature.PRINTERS, ServerFeature.VALIDATION})
    void node_isReadyForKubectl_andSaysWhatIsConfigured() {
        run();

        assertThat(real.kubectl("get", "node", hollow.name))
                .contains(hollow.name)
                .contains(" Ready ");
        Node node = hollow.node();
        assertThat(node.getMetadata().getLabels())
                .containsEntry("disk", "ssd")
                .containsEntry("kubernetes.io/hostname", hollow.name);
        // the admission of this server adds the other one, and without controllers nobody takes it away
        assertThat(node.getSpec().getTaints())
                .extracting(taint -> taint.getKey())
                .containsExactlyInAnyOrder("dedicated", NOT_READY);
        assertThat(node.getStatus().getCapacity().get("pods")).hasToString("120");
        assertThat(millis(node.getStatus().getCapacity())
                        - millis(node.getStatus().getAllocatable()))
                .isEqualTo(100);
        assertThat(real.kubectl("describe", "node", hollow.name))
                .contains("KubeletReady", "kubelet is posting ready status", "KubeletHasSufficientMemory");
    }

    private static long millis(Map<String, Quantity> resources) {
        return Objects.requireNonNull(resources.get("cpu"))
                .getNumericalAmount()
                .movePointRight(3)
                .longValueExact();
    }

    @Test
    void lease_isRenewedWhileTheAgentRunsAndNoLonger() throws Exception {
        run();
        await().until(() -> printed("lease "));
        ZonedDateTime first = renewTime();
        await().until(() -> renewTime().isAfter(first));

        assertThat(stop()).isZero();
        ZonedDateTime last = renewTime();

        // two more would have come
        await().during(Duration.ofSeconds(5)).until(() -> renewTime().equals(last));
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void restart_reconcilesAndRecreatesNothing() throws Exception {
        run();
        hollow.create(hollow.assigned("web"));
        await().until(() -> phase("web").equals("Running"));
        String uid = hollow.node().getMetadata().getUid();
        stop();
        String version = hollow.pod("web").getMetadata().getResourceVersion();

        run();
        await().until(() -> printed("Running 1/1 ready"));
        stop();

        assertThat(hollow.node().getMetadata().getUid()).isEqualTo(uid);
        assertThat(hollow.pod("web").getMetadata().getResourceVersion()).isEqualTo(version);
    }

    @Test
    @Needs({ServerFeature.PRINTERS, ServerFeature.SERVICES})
    void secretOfAPodMissing_isShownByKubectl_andClearsWithinTwoSeconds() {
        run();
        hollow.create(hollow.assigned("web")
                .editSpec()
                .editFirstContainer()
                .addNewEnvFrom()
                .withNewSecretRef("db", null)
                .endEnvFrom()
                .endContainer()
                .endSpec());
        await().until(() ->
                real.kubectl("get", "pod", "web", "-n", hollow.namespace).contains("CreateContainerConfigError"));
        assertThat(real.kubectl(
                        "get",
                        "pod",
                        "web",
                        "-n",
                        hollow.namespace,
                        "-o",
                        "jsonpath={.status.containerStatuses[0].state.waiting.message}"))
                .isEqualTo("secret \"db\" not found");

        hollow.admin.resource(Secrets.of(hollow.namespace, "db", "s3cret")).create();
        long created = System.nanoTime();
        await().pollInterval(Duration.ofMillis(20)).until(() -> phase("web").equals("Running"));
        assertThat(Duration.ofNanos(System.nanoTime() - created))
                .as("from the creation of the Secret until the pod is Running")
                .isLessThan(Duration.ofSeconds(2));

        hollow.admin.pods().inNamespace(hollow.namespace).withName("web").delete();
        await().until(() -> hollow.pod("web") == null);
        assertThat(String.join("\n", console.out())).doesNotContain("s3cret");
    }

    @Test
    @Needs({ServerFeature.SERVICE_ACCOUNTS, ServerFeature.SERVICES})
    void ordinaryPod_withItsTokenVolume_runsOnceTheRootCertificateIsThere() {
        Resource<ConfigMap> certificate =
                hollow.admin.configMaps().inNamespace(hollow.namespace).withName("kube-root-ca.crt");
        ConfigMap there = certificate.get();
        certificate.delete();
        run();

        Pod pod = hollow.create(hollow.assigned("web"));

        assertThat(pod.getSpec().getVolumes())
                .singleElement()
                .extracting(Volume::getProjected)
                .asString()
                .contains("serviceAccountToken", "kube-root-ca.crt");
        await().until(() ->
                !hollow.pod("web").getStatus().getContainerStatuses().isEmpty());
        assertThat(phase("web")).isEqualTo("Pending");
        there.getMetadata().setResourceVersion(null);
        hollow.admin.resource(there).create();
        await().until(() -> phase("web").equals("Running"));
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void hundredAndTenPods_withFiveSecretsEach_areAllReported() {
        for (int i = 0; i < 550; i++) {
            hollow.admin.resource(Secrets.of(hollow.namespace, "s-" + i, "v")).create();
        }
        for (int i = 0; i < 110; i++) {
            PodBuilder pod = hollow.assigned("web-" + i);
            for (int j = 0; j < 5; j++) {
                pod = pod.editSpec()
                        .addNewVolume()
                        .withName("v" + j)
                        .withNewSecret()
                        .withSecretName("s-" + (5 * i + j))
                        .endSecret()
                        .endVolume()
                        .endSpec();
            }
            hollow.create(pod);
        }
        long started = System.nanoTime();

        run();
        await().pollInterval(Duration.ofMillis(200))
                .until(() -> hollow.admin.pods().inNamespace(hollow.namespace).list().getItems().stream()
                        .allMatch(each -> "Running".equals(each.getStatus().getPhase())));

        log.info("110 pods with 550 Secrets reported {} ms after the start", (System.nanoTime() - started) / 1_000_000);
    }

    @Test
    void nodeDeletedByHand_staysDeletedAndTheProgramSaysSo(NoLeaks leaks) {
        leaks.allowWarnings("was deleted, so it is neither registered nor reported");
        leaks.allowWarnings("could not be renewed");
        leaks.allowWarnings("reading or creating the Lease of Node ");
        run();

        real.kubectl("delete", "node", hollow.name);

        await().until(() -> printed("Node " + hollow.name + " was deleted"));
        assertThat(hollow.admin.nodes().withName(hollow.name).get()).isNull();
    }

    @Test
    void nodeAndLeaseDeletedByHandAndRegisterAgain_comeBack(NoLeaks leaks) {
        leaks.allowWarnings("registering it again");
        leaks.allowWarnings("could not be renewed");
        run("--register-again");
        await().until(() -> printed("lease "));
        String uid = hollow.node().getMetadata().getUid();

        real.kubectl("delete", "node", hollow.name);
        hollow.admin
                .leases()
                .inNamespace("kube-node-lease")
                .withName(hollow.name)
                .delete();

        await().until(() ->
                ready().equals("True") && !hollow.node().getMetadata().getUid().equals(uid));
        await().until(() -> hollow.lease() != null);
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void serverIsDownForAWhile_everythingGoesOn(NoLeaks leaks) {
        leaks.allowWarnings("retrying");
        leaks.allowWarnings("reading or creating the Lease of Node ");
        leaks.allowWarnings("report of the status of pod");
        leaks.allowWarnings("did not answer a ping");
        run();
        await().until(() -> printed("lease "));
        ZonedDateTime before = renewTime();

        real.apiServer().kill();
        await().during(Duration.ofSeconds(5)).until(() -> !running.isDone());
        real.apiServer().start();
        hollow.create(hollow.assigned("late"));

        await().until(() -> phase("late").equals("Running"));
        await().until(() -> renewTime().isAfter(before));
        assertThat(List.of(ready())).containsExactly("True");
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }
}
