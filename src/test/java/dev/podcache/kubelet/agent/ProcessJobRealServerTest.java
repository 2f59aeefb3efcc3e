package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.PodKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Pods with what only newer servers know, sidecars and gRPC probes, on a node that runs containers as processes. */
@RealServerTest
@Needs(ServerFeature.SIDECARS)
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessJobRealServerTest {

    private static final int SERVING = 1;
    private static final int NOT_SERVING = 2;

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("jobs");
    private final String node = "node-of-" + namespace;
    private final KubernetesClient admin = real.client();
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(own);
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    private @Nullable NodeAgent agent;

    private ProcessRuntime runtime(Timekeeper timekeeper) {
        return ProcessRuntime.in(home.resolve("runtime"), timekeeper);
    }

    @BeforeEach
    void start(NoLeaks leaks) {
        // a busy machine
        leaks.allowWarnings("no answer from");
        agent = new NodeAgentBuilder(options -> new WithoutServices(new Fabric8AgentServer(server, false, options)))
                .node(node)
                .runtime(this::runtime)
                .withoutServer()
                .build();
        agent.start();
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
        vertx.close().toCompletionStage().toCompletableFuture().get(Patience.SECONDS, TimeUnit.SECONDS);
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        server.close();
        own.close();
        admin.close();
    }

    @Test
    void jobWithSidecar_mainFailsOnceAndThenSucceeds_sidecarIsStoppedAndThePodSucceeds() {
        create(new PodBuilder(pod("job"))
                .editSpec()
                .withRestartPolicy("OnFailure")
                .addToInitContainers(
                        new ContainerBuilder(container("sidecar", "trap 'exit 0' TERM; >shared/up; sleep 600 & wait"))
                                .withRestartPolicy("Always")
                                .build())
                .addToContainers(
                        container(
                                "main",
                                "until [ -e shared/up ]; do sleep 0.1; done; [ -e shared/again ] || { >shared/again; exit 3; }"))
                .endSpec()
                .build());

        await().until(() -> "Succeeded".equals(status("job").getPhase()));

        ContainerStatus main = status("job").getContainerStatuses().get(0);
        assertThat(main.getRestartCount()).isEqualTo(1);
        assertThat(main.getState().getTerminated().getExitCode()).isZero();
        assertThat(main.getLastState().getTerminated().getExitCode()).isEqualTo(3);
        ContainerStatus sidecar = status("job").getInitContainerStatuses().get(0);
        assertThat(sidecar.getRestartCount()).isZero();
        assertThat(sidecar.getState().getTerminated().getExitCode()).isZero();
        assertThat(status("job").getConditions())
                .filteredOn(condition -> condition.getType().equals("Ready"))
                .extracting(condition -> condition.getReason())
                .containsExactly("PodCompleted");
    }

    @Test
    void grpcReadinessProbe_answerOfTheServiceDecides() throws Exception {
        AtomicInteger health = new AtomicInteger(NOT_SERVING);
        AtomicInteger asked = new AtomicInteger();
        int port = serve(health, asked);
        create(new PodBuilder(pod("grpc"))
                .editSpec()
                .withRestartPolicy("Always")
                .addToContainers(new ContainerBuilder(container("main", "exec sleep 600"))
                        .withNewReadinessProbe()
                        .withNewGrpc()
                        .withPort(port)
                        .withService("shop")
                        .endGrpc()
                        .withPeriodSeconds(1)
                        .withTimeoutSeconds(20)
                        .withSuccessThreshold(1)
                        .withFailureThreshold(1)
                        .endReadinessProbe()
                        .build())
                .endSpec()
                .build());

        await().until(() -> asked.get() >= 2);
        await().until(() -> "Running".equals(status("grpc").getPhase()));
        assertThat(isReady("grpc")).isFalse();
        health.set(SERVING);
        await().until(() -> isReady("grpc"));
        health.set(NOT_SERVING);
        await().until(() -> !isReady("grpc"));
        assertThat(status("grpc").getContainerStatuses().get(0).getRestartCount())
                .isZero();
    }

    private Pod pod(String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                // defaults that a stand-in does not set
                .withTerminationGracePeriodSeconds(30L)
                .withEnableServiceLinks(true)
                .withAutomountServiceAccountToken(false)
                .addNewVolume()
                .withName("shared")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .endSpec()
                .build();
    }

    private static Container container(String name, String script) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("none")
                .withCommand("sh", "-c", script)
                .addNewVolumeMount()
                .withName("shared")
                .withMountPath("/shared")
                .endVolumeMount()
                .build();
    }

    private void create(Pod pod) {
        admin.resource(pod).create();
    }

    private PodStatus status(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod).get().getStatus();
    }

    private boolean isReady(String pod) {
        return status(pod).getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Ready")
                        && condition.getStatus().equals("True"));
    }

    private int serve(AtomicInteger health, AtomicInteger asked) throws Exception {
        return vertx.createHttpServer()
                .requestHandler(request -> request.bodyHandler(body -> {
                    // the frame of gRPC, and the field of the name
                    assertThat(body.getString(7, body.length())).isEqualTo("shop");
                    answer(request, health.get());
                    asked.incrementAndGet();
                }))
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(Patience.SECONDS, TimeUnit.SECONDS)
                .actualPort();
    }

    private static void answer(HttpServerRequest request, int status) {
        request.response()
                .putHeader("content-type", "application/grpc")
                .putTrailer("grpc-status", "0")
                .end(Buffer.buffer(new byte[] {0, 0, 0, 0, 2, 0x08, (byte) status}));
    }
}
