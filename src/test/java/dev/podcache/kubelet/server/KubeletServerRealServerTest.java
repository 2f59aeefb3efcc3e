package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A real API server reaches our server, and reviews its clients. */
@RealServerTest
@Needs({ServerFeature.KUBELET_CONNECTIONS, ServerFeature.RBAC, ServerFeature.TOKENS})
@ExtendWith(NoLeaks.class)
class KubeletServerRealServerTest {

    private final RealApiServer real = RealApiServer.shared();
    private final String namespace = real.createNamespaceLike("served");
    private final String node = "node-of-" + namespace;
    private final KubernetesClient admin = real.client();
    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final ServedRuntime runtime = new ServedRuntime();

    /** The node's own credentials: they may create reviews. */
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();

    private final Fabric8ApiServer apiServer = Fabric8ApiServer.of(own);

    @TempDir
    Path folder;

    private KubeletServer server;

    @BeforeEach
    void createPod() throws Exception {
        Files.write(
                folder.resolve("ca.crt"),
                Base64.getDecoder().decode(real.config().getCaCertData()));
        start(runtime);
        admin.resource(new PodBuilder(ServerFixture.web().build())
                        .editMetadata()
                        .withNamespace(namespace)
                        .endMetadata()
                        .editSpec()
                        .withNodeName(node)
                        .endSpec()
                        .build())
                .create();
    }

    @AfterEach
    void close() {
        server.close();
        admin.nodes().withName(node).delete();
        apiServer.close();
        own.close();
        admin.close();
        clock.close();
    }

    private void start(PodRuntime served) throws Exception {
        server = KubeletServer.builder(node, clock)
                .address("127.0.0.1")
                .port(0)
                .clientAuthority(folder.resolve("ca.crt"))
                .pods(this::pods)
                .metrics(() -> "up 1\n")
                .runtime(served)
                .reviews(apiServer.accessReviews(Duration.ofSeconds(10)))
                .build();
        server.start();
        admin.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .endMetadata()
                        .build())
                .createOr(existing -> existing.update());
        admin.nodes()
                .withName(node)
                .editStatus(found -> new NodeBuilder(found)
                        .editOrNewStatus()
                        .withAddresses()
                        .addNewAddress("127.0.0.1", "InternalIP")
                        .withNewDaemonEndpoints()
                        .withNewKubeletEndpoint(server.port())
                        .endDaemonEndpoints()
                        .endStatus()
                        .build());
    }

    private List<Pod> pods() {
        return admin.pods()
                .inNamespace(namespace)
                .withField("spec.nodeName", node)
                .list()
                .getItems();
    }

    @Test
    void kubectlLogs_returnsTheRuntimesOutput() {
        String logs = real.kubectl(
                "--namespace=" + namespace,
                "logs",
                "web",
                "--tail=5",
                "--since=10m",
                "--timestamps",
                "--limit-bytes=100");

        assertThat(logs).isEqualTo("hello\n");
        assertThat(runtime.options).singleElement().satisfies(options -> {
            assertThat(options.tailLines()).hasValue(5);
            assertThat(options.timestamps()).isTrue();
            assertThat(options.since()).contains(clock.wallTime().minus(Duration.ofMinutes(10)));
        });
    }

    @Test
    void kubectlLogs_runtimeKeepsNone_printsTheSentence() throws Exception {
        server.close();
        start(new HollowRuntime(clock));

        assertThatThrownBy(() -> real.kubectl("--namespace=" + namespace, "logs", "web"))
                .hasMessageContaining("the container runtime of this node keeps no logs of containers");
    }

    @Test
    void kubectlLogs_containerIsWaiting_printsWhy() {
        runtime.logs = options -> {
            throw new NoSuchFileException("0.log");
        };

        assertThatThrownBy(() -> real.kubectl("--namespace=" + namespace, "logs", "web"))
                .hasMessageContaining("(BadRequest): container \"main\" in pod \"web\" is not available");
    }

    @Test
    void logs_followed_arriveLineByLine() throws Exception {
        PipedOutputStream output = new PipedOutputStream();
        PipedInputStream input = new PipedInputStream(output);
        runtime.logs = options -> input;
        try (LogWatch watch = admin.pods()
                        .inNamespace(namespace)
                        .withName("web")
                        .inContainer("main")
                        .watchLog();
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(watch.getOutput(), StandardCharsets.UTF_8))) {
            output.write("one\n".getBytes(StandardCharsets.UTF_8));
            output.flush();
            assertThat(lines.readLine()).isEqualTo("one");
            output.write("two\n".getBytes(StandardCharsets.UTF_8));
            output.close();
            assertThat(lines.readLine()).isEqualTo("two");
            assertThat(lines.readLine()).isNull();
        }
        assertThat(runtime.options).allMatch(options -> options.follow());
    }

    @Test
    void exec_byWebSocketThroughTheApiServer_runsTheCommand() throws Exception {
        FakeCommand process = new FakeCommand();
        runtime.exec = command -> process;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try (ExecWatch watch = admin.pods()
                .inNamespace(namespace)
                .withName("web")
                .inContainer("main")
                .redirectingInput()
                .writingOutput(output)
                .exec("cat", "-")) {
            watch.getInput().write("hello".getBytes(StandardCharsets.UTF_8));
            watch.getInput().flush();
            await().until(() -> output.toString(StandardCharsets.UTF_8).equals("hello"));
            process.stdin().close();

            CompletableFuture<Integer> code = watch.exitCode();
            assertThat(code.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(3);
        }
        assertThat(runtime.commands).containsExactly(List.of("cat", "-"));
    }

    @Test
    void bearerToken_isReviewed_andRbacDecides() throws Exception {
        String token = token();
        assertThat(get("/metrics", token).statusCode()).isEqualTo(403);
        assertThat(get("/metrics", token).body())
                .isEqualTo("Forbidden (user=system:serviceaccount:" + namespace
                        + ":default, verb=get, resource=nodes, subresource=metrics)");
        String role = "metrics-of-" + namespace;
        real.kubectl("create", "clusterrole", role, "--verb=get", "--resource=nodes/metrics");
        real.kubectl(
                "create",
                "clusterrolebinding",
                role,
                "--clusterrole=" + role,
                "--serviceaccount=" + namespace + ":default");

        await().untilAsserted(() -> {
            clock.advance(CachedReviews.DENIED_FOR);
            assertThat(get("/metrics", token).statusCode()).isEqualTo(200);
        });
        assertThat(get("/pods", token).statusCode()).isEqualTo(403);
        assertThat(get("/metrics", token + "x").statusCode()).isEqualTo(401);
    }

    @Test
    void clientCertificate_ofTheClustersAuthority_isAccepted() throws Exception {
        HttpClient client =
                ServerFixture.clientOf(UncheckedTls.with(SSLUtils.keyManagers(real.configFor("nobody", "no-group"))));

        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + "/pods"))
                        .build(),
                BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(403);
        assertThat(response.body()).isEqualTo("Forbidden (user=nobody, verb=get, resource=nodes, subresource=pods)");
    }

    @Test
    void accessReviews_unknownTokenAndUser_areRefused() {
        AccessReviews reviews = apiServer.accessReviews(Duration.ofSeconds(10));

        assertThat(reviews.reviewToken("nonsense").join()).isEqualTo(Optional.empty());
        assertThat(reviews.review(FakeReviews.READER, new AccessReviews.ResourceAccess("get", "nodes", "proxy", node))
                        .join()
                        .allowed())
                .isFalse();
    }

    private HttpResponse<String> get(String path, String token) throws Exception {
        return ServerFixture.clientOf(UncheckedTls.with())
                .send(
                        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + path))
                                .header("Authorization", "Bearer " + token)
                                .build(),
                        BodyHandlers.ofString());
    }

    private String token() throws Exception {
        Path request = folder.resolve("token.json");
        Files.writeString(request, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\"}");
        String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/default/token";
        return new ObjectMapper()
                .readTree(real.kubectl("create", "--raw", path, "--filename=" + request))
                .at("/status/token")
                .asText();
    }
}
