package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.PodKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.LocalPortForward;
import io.fabric8.kubernetes.client.dsl.ContainerResource;
import io.fabric8.kubernetes.client.dsl.ExecListener;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** fabric8's client uses the streams of a pod through the API server, by WebSocket, on a node that runs processes. */
@RealServerTest
@Needs({ServerFeature.SERVICES, ServerFeature.KUBELET_CONNECTIONS})
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessStreamsRealServerTest {

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("streams");
    private final KubernetesClient admin = real.client();
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(namespace)).build();
    private NodeAgent agent;

    private ProcessRuntime runtime(Timekeeper timekeeper) {
        return ProcessRuntime.builder(home.resolve("runtime"), timekeeper)
                .portForwarding()
                .build();
    }

    @BeforeEach
    void start(NoLeaks leaks) throws IOException {
        // a busy machine
        leaks.allowWarnings("no answer from");
        Path authority = home.resolve("ca.crt");
        Files.write(authority, Base64.getDecoder().decode(real.config().getCaCertData()));
        agent = NodeAgent.builder(own)
                .node(namespace)
                .runtime(this::runtime)
                .server(options -> options.port(0).clientAuthority(authority))
                .build();
        agent.start();
        admin.resource(pod()).create();
        // the pod may be Running before the Node has the port of the agent's endpoint
        await().ignoreException(KubernetesClientException.class)
                .until(() -> "Running".equals(web().get().getStatus().getPhase())
                        && web().inContainer("main").getLog().startsWith("ready"));
    }

    private Pod pod() {
        String script = "echo ready; while :; do echo tick; sleep 0.1; done";
        return new PodBuilder(Pods.assigned(namespace, "web").build())
                .editMetadata()
                .withNamespace(namespace)
                .endMetadata()
                .editSpec()
                .withAutomountServiceAccountToken(false)
                .editFirstContainer()
                .withCommand("sh", "-c", script)
                .endContainer()
                .endSpec()
                .build();
    }

    private PodResource web() {
        return admin.pods().inNamespace(namespace).withName("web");
    }

    @AfterEach
    void stop() throws Exception {
        agent.close();
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = runtime(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        }
        web().withGracePeriod(0).delete();
        admin.nodes().withName(namespace).delete();
        own.close();
        admin.close();
    }

    @Test
    void portForward_bytesPassInBothDirections_forEachConnection() throws IOException {
        try (ServerSocket service = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LocalPortForward forward = web().portForward(service.getLocalPort())) {
            for (String word : new String[] {"one", "two"}) {
                try (Socket client = new Socket(InetAddress.getLoopbackAddress(), forward.getLocalPort());
                        Socket accepted = service.accept()) {
                    client.getOutputStream().write(word.getBytes(StandardCharsets.UTF_8));
                    assertThat(accepted.getInputStream().readNBytes(3))
                            .asString()
                            .isEqualTo(word);
                    accepted.getOutputStream().write(new byte[1 << 20]);
                    assertThat(client.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
                    accepted.shutdownOutput();
                    assertThat(client.getInputStream().read()).isEqualTo(-1);
                }
            }
            assertThat(forward.errorOccurred()).isFalse();
        }
    }

    @Test
    void portForward_nothingListens_clientSeesWhy() throws IOException {
        int unused;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            unused = closed.getLocalPort();
        }
        try (LocalPortForward forward = web().portForward(unused);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), forward.getLocalPort())) {
            assertThat(client.getInputStream().read()).isEqualTo(-1);

            assertThat(forward.getServerThrowables())
                    .singleElement()
                    .satisfies(error -> assertThat(error).hasMessageContaining("nothing listens on port " + unused));
        }
    }

    @Test
    void attach_showsTheOutputFromNowOn_andTheContainerOutlivesIt() throws Exception {
        ContainerResource container = web().inContainer("main");
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (ExecWatch watch = container.writingOutput(output).attach()) {
            await().until(() -> output.toString(StandardCharsets.UTF_8).contains("tick\ntick\n"));
            assertThat(output.toString(StandardCharsets.UTF_8)).doesNotContain("ready");
            assertThat(watch.exitCode()).isNotDone();
        }
        assertThat(exec("echo still here")).isEqualTo("still here\n");
    }

    private String exec(String script) throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (ExecWatch watch = web().inContainer("main").writingOutput(output).exec("sh", "-c", script)) {
            assertThat(watch.exitCode().get(Patience.SECONDS, TimeUnit.SECONDS)).isZero();
        }
        return output.toString(StandardCharsets.UTF_8);
    }

    @Test
    void attach_withInput_clientSeesTheRefusal() throws Exception {
        CompletableFuture<Status> end = new CompletableFuture<>();
        ExecListener listener = new ExecListener() {
            @Override
            public void onExit(int code, Status status) {
                end.complete(status);
            }

            @Override
            public void onClose(int code, String reason) {}
        };
        try (ExecWatch watch = web().inContainer("main")
                .redirectingInput()
                .usingListener(listener)
                .attach()) {
            assertThat(end.get(Patience.SECONDS, TimeUnit.SECONDS).getMessage())
                    .as("of %s", watch)
                    .contains("have no standard input");
        }
    }
}
