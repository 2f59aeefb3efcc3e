package dev.podcache.cli.observe;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.demo.DemoCluster;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code observe} against an API server in this process, over real HTTP. */
@Slow
@ExtendWith(NoLeaks.class)
class ObserveCommandTest {

    @TempDir
    private Path home;

    private final DemoCluster cluster = DemoCluster.start(1);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster.cluster());
    private CapturedConsole console = new CapturedConsole(Path.of(""));

    @BeforeEach
    void useKubeconfigOfTheCluster() throws IOException {
        Path kubeconfig = Files.writeString(
                home.resolve("kubeconfig"),
                "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
                        + "contexts:\n- name: x\n  context: {cluster: c, user: u}\n"
                        + "clusters:\n- name: c\n  cluster: {server: '" + server.url() + "'}\n");
        console = new CapturedConsole(home).with("KUBECONFIG", kubeconfig.toString());
    }

    @AfterEach
    void closeCluster() {
        server.close();
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource
    void observe_anyStrategy_registersReadsAndSumsUp(ChangeDetectionStrategy strategy) throws Exception {
        CompletableFuture<Integer> code = start(
                "--strategy", strategy.name().toLowerCase(Locale.ROOT), "--sync-frequency", "250ms", "-o", "json");
        await().until(() -> named("registered").size() == 12);
        await().until(() -> strategy != ChangeDetectionStrategy.WATCH || watchesReported() == 18);
        // so all is read more than once
        awaitAChange("\"event\":\"changed\"");
        stop(code);

        List<JsonNode> events =
                console.out().stream().map(RecordedOutput::parsed).toList();
        JsonNode summary = events.get(events.size() - 1);
        assertThat(console.err()).isEmpty();
        assertThat(events.get(0).path("event").asText()).isEqualTo("started");
        assertThat(summary.path("event").asText()).isEqualTo("summary");
        assertThat(summary.path("references").asInt()).isEqualTo(53);
        assertThat(summary.path("strategy").asText()).isEqualTo(strategy.name());
        assertThat(summary.path("reads").asLong()).isPositive();
        assertThat(summary.path("hits").asLong() > 0).isEqualTo(strategy != ChangeDetectionStrategy.GET);
        assertThat(server.requests().of(Verb.GET, Resource.SECRETS) > 0)
                .isEqualTo(strategy != ChangeDetectionStrategy.WATCH);
        // kube-root-ca.crt is polled under WATCH, too
        assertThat(server.requests().of(Verb.GET, Resource.CONFIG_MAPS)).isPositive();
        assertThat(summary.path("watches").path("opened").asInt())
                .isEqualTo(strategy == ChangeDetectionStrategy.WATCH ? 18 : 0);
    }

    @Test
    void observe_objectChanges_isReportedWithoutItsContent() throws Exception {
        CompletableFuture<Integer> code = start("--sync-frequency", "50ms");
        await().until(() -> printed("registered   pod shop/web-1"));

        awaitAChange("changed      Secret shop/db-password: resourceVersion");

        stop(code);
        assertThat(String.join("\n", console.out())).doesNotContain("c2VjcmV0", "secret-canary", "demo-first");
    }

    @Test
    void observe_kubeconfigWithoutCredentialsAndRefused_saysThatNoCredentialsWereSent() {
        server.faults().fail(StatusException.forbidden(Resource.PODS, ""), RequestPattern.any());

        int code = console.execute("observe", "--node", DemoCluster.NODE);

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().contains("403", "no credentials were sent", "exec plugin");
    }

    @Test
    void observe_withPage_servesItUntilItEnds() throws Exception {
        CompletableFuture<Integer> code = start("--ui-port", "0", "-o", "json");
        await().until(() -> named("page").size() == 1);
        URI page = URI.create(named("page").get(0).path("url").asText());

        await().untilAsserted(() -> assertThat(state(page).path("entries")).hasSize(21));

        assertThat(state(page).path("node").asText()).isEqualTo(DemoCluster.NODE);
        assertThat(state(page).path("pods")).hasSize(12);
        assertThat(state(page).has("heartbeats")).isFalse();
        stop(code);
        assertThatThrownBy(() -> state(page)).isInstanceOf(ConnectException.class);
    }

    private static JsonNode state(URI page) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(page + "/state")).build();
        return RecordedOutput.parsed(NoLeaks.saw(HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body()));
    }

    @Test
    void observe_portOfThePageInUse_saysSo() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int code = console.execute("observe", "--node", DemoCluster.NODE, "--ui-port", "" + other.getLocalPort());

            assertThat(code).isEqualTo(1);
            assertThat(console.errText()).contains("--ui-port: cannot listen on 127.0.0.1:" + other.getLocalPort());
        }
    }

    @Test
    void observe_nodeWithoutPods_saysThatThereAreNone() throws Exception {
        CompletableFuture<Integer> code =
                CompletableFuture.supplyAsync(() -> console.execute("observe", "--node", "elsewhere"), NewThread.EACH);

        await().until(() -> printed("no pods are assigned to this node"));

        stop(code);
    }

    @Test
    void observe_objectThatMayNotBeWatched_isReportedInOneLine(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("; retrying");
        server.faults()
                .fail(
                        StatusException.forbidden(Resource.SECRETS, ""),
                        RequestPattern.any().resource(Resource.SECRETS));
        CompletableFuture<Integer> code = start("--sync-frequency", "1s");

        await().until(() -> printed("failing      Secret shop/db-password: cannot be read, "));
        await().until(() -> console.out().stream()
                .anyMatch(line -> line.matches(".*unwatched +\\d+ objects? cannot be watched; retrying: FORBIDDEN")));

        stop(code);
    }

    @Test
    void observe_configurationFile_isInEffectWhereNoFlagIsGiven(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("valid for a kubelet, but without effect here: cgroupDriver, clusterDNS");
        Path file = Files.writeString(home.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                configMapAndSecretChangeDetectionStrategy: Get
                syncFrequency: 1h
                cgroupDriver: systemd
                clusterDNS: [10.0.0.10]
                """);

        CompletableFuture<Integer> code = start("--config", file.toString(), "--sync-frequency", "250ms", "-o", "json");
        // more than one sync makes
        await().until(() -> reads() > 53);
        stop(code);

        JsonNode summary = RecordedOutput.parsed(console.out().get(console.out().size() - 1));
        assertThat(summary.path("strategy").asText()).isEqualTo("GET");
    }

    @Test
    void observe_requestRateOfTheFile_limitsTheReads() throws Exception {
        Path file = Files.writeString(home.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                configMapAndSecretChangeDetectionStrategy: Get
                kubeAPIQPS: 1
                kubeAPIBurst: 3
                """);

        long began = System.nanoTime();
        CompletableFuture<Integer> code = start("--config", file.toString());
        await().until(() -> reads() > 3);
        stop(code);

        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) + 1;
        assertThat(reads()).isLessThanOrEqualTo(3 + (int) seconds);
    }

    /** So many requests reached the server. */
    private int reads() {
        return server.requests().of(Verb.GET, Resource.SECRETS)
                + server.requests().of(Verb.GET, Resource.CONFIG_MAPS);
    }

    private List<JsonNode> named(String event) {
        return console.out().stream()
                .filter(line -> line.endsWith("}"))
                .map(RecordedOutput::parsed)
                .filter(parsed -> parsed.path("event").asText().equals(event))
                .toList();
    }

    private int watchesReported() {
        return named("watched").stream()
                .mapToInt(event -> event.path("watches").asInt())
                .sum();
    }

    /** Changes a Secret, again and again because a change before the first read is none, until {@code line} is printed. */
    private void awaitAChange(String line) {
        await().until(() -> {
            Secret secret = cluster.cluster().get(Secret.class, "shop", "db-password");
            secret.getData().put("password", "c2VjcmV0LWNhbmFyeQ==");
            secret.getData().put("salt" + secret.getMetadata().getResourceVersion(), "c2VjcmV0");
            cluster.cluster().update(secret);
            return printed(line);
        });
    }

    private void stop(CompletableFuture<Integer> code) throws Exception {
        console.stop();
        assertThat(code.get(60, TimeUnit.SECONDS)).isZero();
    }

    private CompletableFuture<Integer> start(String... options) {
        String[] arguments = new String[options.length + 3];
        arguments[0] = "observe";
        arguments[1] = "--node";
        arguments[2] = DemoCluster.NODE;
        System.arraycopy(options, 0, arguments, 3, options.length);
        return CompletableFuture.supplyAsync(() -> console.execute(arguments), NewThread.EACH);
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }
}
