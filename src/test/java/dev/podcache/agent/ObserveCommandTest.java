package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code observe} against an API server in this process, over real HTTP. */
@ExtendWith(NoLeaks.class)
@Timeout(30)
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
    void observe_anyStrategy_registersReadsAndSumsUp(ChangeDetectionStrategy strategy) {
        int code = console.execute(
                "observe",
                "--hostname-override",
                DemoCluster.NODE,
                "--for",
                "2s",
                "--strategy",
                strategy.name().toLowerCase(Locale.ROOT),
                "--sync-frequency",
                "250ms",
                "-o",
                "json");

        List<JsonNode> events =
                console.out().stream().map(RecordedAccount::parsed).toList();
        JsonNode summary = events.get(events.size() - 1);
        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(events.get(0).path("event").asText()).isEqualTo("started");
        assertThat(events)
                .filteredOn(event -> event.path("event").asText().equals("registered"))
                .hasSize(12);
        assertThat(summary.path("event").asText()).isEqualTo("summary");
        assertThat(summary.path("references").asInt()).isEqualTo(53);
        assertThat(summary.path("strategy").asText()).isEqualTo(strategy.name());
        assertThat(summary.path("reads").asLong()).isPositive();
        assertThat(summary.path("hits").asLong() > 0).isEqualTo(strategy != ChangeDetectionStrategy.GET);
        assertThat(server.requests().of(Verb.GET, Resource.SECRETS) > 0)
                .isEqualTo(strategy != ChangeDetectionStrategy.WATCH);
        assertThat(summary.path("watches").path("opened").asInt())
                .isEqualTo(strategy == ChangeDetectionStrategy.WATCH ? 21 : 0);
    }

    @Test
    void observe_objectChanges_isToldWithoutItsContent() throws Exception {
        CompletableFuture<Integer> code = start("--sync-frequency", "50ms");
        await().until(() -> printed("registered   pod shop/web-1"));

        await().until(() -> {
            // again and again, because a change before the first read is none
            Secret secret = cluster.cluster().get(Secret.class, "shop", "db-password");
            secret.getData().put("password", "c2VjcmV0LWNhbmFyeQ==");
            secret.getData().put("salt" + secret.getMetadata().getResourceVersion(), "c2VjcmV0");
            cluster.cluster().update(secret);
            return printed("changed      Secret shop/db-password: resourceVersion");
        });

        console.stop();
        assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
        assertThat(String.join("\n", console.out())).doesNotContain("c2VjcmV0", "secret-canary", "demo-first");
    }

    @Test
    void observe_nodeWithoutPods_saysThatThereAreNone() throws Exception {
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(
                () -> console.execute("observe", "--hostname-override", "elsewhere", "--for", "1s"));

        assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
        assertThat(printed("no pods are assigned to this node")).isTrue();
    }

    @Test
    void observe_objectThatMayNotBeWatched_isToldInOneLine(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("trying on");
        server.faults()
                .fail(
                        StatusException.forbidden(Resource.SECRETS, ""),
                        RequestPattern.any().resource(Resource.SECRETS));
        CompletableFuture<Integer> code = start("--sync-frequency", "1s");

        await().until(() -> printed("failing      Secret shop/db-password: cannot be read, "));
        await().until(() -> console.out().stream()
                .anyMatch(line -> line.matches(".*unwatched +\\d+ objects? cannot be watched, trying on: FORBIDDEN")));

        console.stop();
        assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void observe_configurationFile_isInEffectWhereNoFlagIsGiven(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("valid for a kubelet, but without effect here: cgroupDriver, clusterDNS");
        Path file = Files.writeString(home.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                configMapAndSecretChangeDetectionStrategy: Get
                syncFrequency: 1h
                cgroupDriver: systemd
                clusterDNS: [10.0.0.10]
                """);

        int code = console.execute(
                "observe",
                "--config",
                file.toString(),
                "--node",
                DemoCluster.NODE,
                "--sync-frequency",
                "250ms",
                "--for",
                "2s",
                "-o",
                "json");

        JsonNode summary =
                RecordedAccount.parsed(console.out().get(console.out().size() - 1));
        assertThat(code).isZero();
        assertThat(summary.path("strategy").asText()).isEqualTo("GET");
        assertThat(summary.path("reads").asInt()).isGreaterThan(53);
    }

    @Test
    void observe_requestRateOfTheFile_limitsTheReads() throws IOException {
        Path file = Files.writeString(home.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                configMapAndSecretChangeDetectionStrategy: Get
                kubeAPIQPS: 1
                kubeAPIBurst: 3
                """);

        int code = console.execute("observe", "--config", file.toString(), "--node", DemoCluster.NODE, "--for", "1s");

        assertThat(code).isZero();
        assertThat(server.requests().of(Verb.GET, Resource.SECRETS)
                        + server.requests().of(Verb.GET, Resource.CONFIG_MAPS))
                .isBetween(1, 10);
    }

    private CompletableFuture<Integer> start(String... options) {
        String[] arguments = new String[options.length + 3];
        arguments[0] = "observe";
        arguments[1] = "--hostname-override";
        arguments[2] = DemoCluster.NODE;
        System.arraycopy(options, 0, arguments, 3, options.length);
        return CompletableFuture.supplyAsync(() -> console.execute(arguments));
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }
}
