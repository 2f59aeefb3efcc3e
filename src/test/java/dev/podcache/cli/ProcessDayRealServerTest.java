package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.FreePorts;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A web server in a pod on a node that runs containers as processes. */
@RealServerTest
@Needs({ServerFeature.SERVICES, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.KUBELET_CONNECTIONS})
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessDayRealServerTest {

    @TempDir
    private Path home;

    private int port;
    private ProcessNode machine;
    private RealNode node;

    @BeforeEach
    void startWebServer() throws IOException {
        port = FreePorts.find(1).get(0);
        machine = new ProcessNode(RealApiServer.shared(), home);
        node = machine.node;
        node.admin.resource(Secrets.of(node.namespace, "content", "one")).create();
        node.create(web());
        machine.startAgent();
        awaitReady();
    }

    @AfterEach
    void stopAll() {
        machine.close();
    }

    private PodBuilder web() {
        return node.assigned("web")
                .editSpec()
                .addNewVolume()
                .withName("content")
                .withNewSecret()
                .withSecretName("content")
                .endSecret()
                .endVolume()
                .editFirstContainer()
                .withCommand(ServedSecret.command(home, port, "etc/content/value"))
                .addNewVolumeMount()
                .withName("content")
                .withMountPath("/etc/content")
                .endVolumeMount()
                .withReadinessProbe(probe(1))
                // of a busy machine, the JVM may get little
                .withLivenessProbe(probe(30))
                .endContainer()
                .endSpec();
    }

    private Probe probe(int failures) {
        return new ProbeBuilder()
                .withNewHttpGet()
                .withPath("/healthz")
                .withPort(new IntOrString(port))
                .endHttpGet()
                .withPeriodSeconds(1)
                .withTimeoutSeconds(20)
                .withFailureThreshold(failures)
                .build();
    }

    /** A pod with one process, which waits for a file that never comes. */
    private PodBuilder sleeper(String name) {
        return node.assigned(name)
                .editSpec()
                .editFirstContainer()
                .withCommand("tail", "-F", home.resolve(name).toString())
                .endContainer()
                .endSpec();
    }

    @Test
    void secretRotated_newContentIsServed_andEachRequestIsInTheFollowedLog() throws IOException {
        assertThat(get("/")).isEqualTo("one");
        // the pod may be Ready before the Node has the port of the agent's endpoint
        await().ignoreExceptionsInstanceOf(KubernetesClientException.class)
                .until(() -> node.admin
                        .pods()
                        .inNamespace(node.namespace)
                        .withName("web")
                        .getLog()
                        .startsWith("serving etc/content/value\n"));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (LogWatch logs =
                node.admin.pods().inNamespace(node.namespace).withName("web").watchLog(output)) {
            assertThat(logs).isNotNull();
            await().until(() -> output.toString(StandardCharsets.UTF_8).startsWith("serving etc/content/value\n"));

            node.admin.resource(Secrets.of(node.namespace, "content", "two")).update();

            await().until(() -> get("/").equals("two"));
            get("/last");
            await().until(() -> output.toString(StandardCharsets.UTF_8).contains("GET /last\n"));
        }
        assertThat(status().getRestartCount()).isZero();
        assertThat(machine.agentOutput() + machine.agentErrors()).doesNotContain(NoLeaks.CANARY);
    }

    @Test
    void crashes_areRestarted_theSecondTimeAfterABackOff() throws IOException {
        String first = status().getContainerID();
        crash();
        await().until(() -> status().getRestartCount() == 1);
        awaitReady();
        assertThat(status().getContainerID()).isNotEqualTo(first);
        assertThat(status().getLastState().getTerminated()).satisfies(end -> {
            assertThat(end.getExitCode()).isEqualTo(ServedSecret.CRASHED);
            assertThat(end.getReason()).isEqualTo("Error");
            assertThat(end.getContainerID()).isEqualTo(first);
        });

        crash();
        await().until(() -> status().getState().getWaiting() != null);
        assertThat(status().getState().getWaiting().getReason()).isEqualTo("CrashLoopBackOff");
        assertThat(status().getReady()).isFalse();

        await().until(() -> status().getRestartCount() == 2);
        awaitReady();
        assertThat(get("/")).isEqualTo("one");
    }

    @Test
    void agentKilled_webServerGoesOn_andIsTheSameForTheNextAgent() throws IOException {
        node.create(sleeper("forced"));
        node.create(sleeper("stays"));
        await().until(() -> isReady("forced") && isReady("stays"));
        Pod before = node.pod("web");

        machine.killAgent();
        assertThat(get("/")).isEqualTo("one");
        node.admin
                .pods()
                .inNamespace(node.namespace)
                .withName("forced")
                .withGracePeriod(0)
                .delete();
        assertThat(machine.processesWith(" " + home.resolve("forced"))).isNotEmpty();
        machine.startAgent();

        await().until(() -> machine.processesWith(" " + home.resolve("forced")).isEmpty());
        node.create(sleeper("late"));
        await().until(() -> isReady("late"));
        awaitProbes(2);
        assertThat(status()).isEqualTo(before.getStatus().getContainerStatuses().get(0));
        assertThat(node.pod("web").getMetadata().getResourceVersion())
                .as("no report was made again: %s", node.pod("web").getStatus())
                .isEqualTo(before.getMetadata().getResourceVersion());
        assertThat(machine.processesWith(" " + home.resolve("stays"))).isNotEmpty();
    }

    @Test
    void podsDeleted_noProcessAndNoDirectoryRemains() {
        node.create(sleeper("other"));
        await().until(() -> isReady("other"));
        assertThat(machine.podDirectories()).hasSize(2);
        assertThat(machine.processes()).isNotEmpty();

        node.admin.pods().inNamespace(node.namespace).delete();

        await().until(() -> node.pod("web") == null && node.pod("other") == null);
        await().until(() -> machine.podDirectories().isEmpty());
        assertThat(machine.processes()).isEmpty();
    }

    private void awaitReady() {
        await().until(() -> isReady("web"));
    }

    private boolean isReady(String pod) {
        machine.agentErrors();
        return node.pod(pod).getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Ready")
                        && condition.getStatus().equals("True"));
    }

    private ContainerStatus status() {
        return node.pod("web").getStatus().getContainerStatuses().get(0);
    }

    /** Waits until the web server was probed this often from now on. The agent may just have begun to serve logs. */
    private void awaitProbes(int count) {
        AtomicLong first = new AtomicLong(-1);
        await().ignoreException(KubernetesClientException.class).until(() -> {
            first.compareAndSet(-1, probes());
            return probes() >= first.get() + count;
        });
    }

    private long probes() {
        return node.admin
                .pods()
                .inNamespace(node.namespace)
                .withName("web")
                .getLog()
                .lines()
                .filter("GET /healthz"::equals)
                .count();
    }

    private String get(String path) throws IOException {
        URLConnection connection =
                URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
        connection.setConnectTimeout(20_000);
        connection.setReadTimeout(20_000);
        try (InputStream body = connection.getInputStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void crash() {
        try {
            get("/crash");
        } catch (IOException ended) {
            return;
        }
        throw new AssertionError("the web server has answered");
    }
}
