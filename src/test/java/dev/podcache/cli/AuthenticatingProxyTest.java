package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.testing.AuthenticatingProxy;
import dev.podcache.testing.FixedHost;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The agent and the library where a proxy that asks for a password is the only way to the server, whose name has no address. */
@ExtendWith(NoLeaks.class)
@NullUnmarked
class AuthenticatingProxyTest {

    private static final String HOST = "cluster.invalid";
    private static final String NODE = "worker-1";
    private static final String PASSWORD = "p@ss:word";

    private final Timekeeper time = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(time);
    private EmbeddedApiServer server;
    private TestCertificates certificates;
    private AuthenticatingProxy proxy;

    @TempDir
    private Path folder;

    @BeforeEach
    void start() throws Exception {
        server = EmbeddedApiServer.start(cluster);
        certificates = new TestCertificates();
        proxy = new AuthenticatingProxy(server.port(), certificates.serverTlsFor(HOST), "user", PASSWORD);
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        server.close();
        cluster.close();
        time.close();
    }

    private String proxyUrl(String userInfo) {
        return "http://" + userInfo + "127.0.0.1:" + proxy.port();
    }

    private String authority() throws Exception {
        return Base64.getEncoder().encodeToString(certificates.authorityPem().getBytes(StandardCharsets.UTF_8));
    }

    private Path kubeconfig(String scheme, String more) throws Exception {
        String trust = scheme.equals("https") ? ", certificate-authority-data: " + authority() : "";
        return Files.writeString(folder.resolve("config"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: '%s://%s:6443'%s%s}}]
                users: [{name: u, user: {token: abc}}]
                """.formatted(scheme, HOST, trust, more));
    }

    @ParameterizedTest
    @ValueSource(strings = {"https", "http"})
    void agent_proxyOfTheKubeconfig_registersItsNode(String scheme) throws Exception {
        Path kubeconfig = kubeconfig(scheme, ", proxy-url: '" + proxyUrl("user:p%40ss%3Aword@") + "'");

        registers(new ClusterAccess(Map.of(), folder).config(kubeconfig), scheme);
    }

    @ParameterizedTest
    @ValueSource(strings = {"https", "http"})
    void agent_proxyOfTheEnvironment_registersItsNode(String scheme) throws Exception {
        Map<String, String> environment =
                Map.of(scheme.equals("https") ? "HTTPS_PROXY" : "HTTP_PROXY", proxyUrl("user:p%40ss%3Aword@"));

        registers(new ClusterAccess(environment, folder).config(kubeconfig(scheme, "")), scheme);
    }

    private void registers(Config config, String scheme) {
        try (Fabric8ApiServer through = ClusterAccess.server(config, RequestLimit.DEFAULT);
                NodeAgent agent = NodeAgent.builder(through)
                        .node(NODE)
                        .facts(new FixedHost())
                        .withoutServer()
                        .build()) {
            agent.start();

            await().until(() -> agent.status().registered() && agent.node().isPresent());
        }
        assertThat(proxy.refused()).isEmpty();
        assertPassed(scheme);
    }

    private void assertPassed(String scheme) {
        String expected = scheme.equals("https") ? "CONNECT " + HOST + ":6443 HTTP/1.1" : " http://" + HOST + ":6443/";
        assertThat(proxy.passed()).isNotEmpty().allMatch(line -> line.contains(expected));
    }

    private ConfigBuilder caller(String scheme) throws Exception {
        ConfigBuilder config = new ConfigBuilder(Config.empty()).withMasterUrl(scheme + "://" + HOST + ":6443");
        return scheme.equals("https") ? config.withCaCertData(authority()) : config;
    }

    @ParameterizedTest
    @ValueSource(strings = {"https", "http"})
    void library_proxyAndPasswordOfTheCallersConfig_readsAndFollows(String scheme) throws Exception {
        ConfigBuilder config = caller(scheme).withProxyUsername("user").withProxyPassword(PASSWORD);
        reads((scheme.equals("https") ? config.withHttpsProxy(proxyUrl("")) : config.withHttpProxy(proxyUrl("")))
                .build());

        assertThat(proxy.refused()).isEmpty();
        assertPassed(scheme);
    }

    @ParameterizedTest
    @ValueSource(strings = {"https", "http"})
    void library_passwordInTheUrlOfTheProxy_readsAndFollows(String scheme) throws Exception {
        String url = proxyUrl("user:p%40ss%3Aword@");
        reads((scheme.equals("https")
                        ? caller(scheme).withHttpsProxy(url)
                        : caller(scheme).withHttpProxy(url))
                .build());

        assertThat(proxy.refused()).isEmpty();
        assertPassed(scheme);
    }

    private void reads(Config config) {
        cluster.create(Secrets.of("shop", "db", "1"));
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(config).build();
                Podcache podcache = Podcache.builder(client).build()) {
            podcache.registerPod(Pods.withSecrets("shop", "web", "uid-web", "db"));

            await().until(() -> podcache.secrets().peek("shop", "db").isPresent());
            cluster.update(Secrets.of("shop", "db", "2"));
            await().until(() ->
                    Secrets.value(podcache.secrets().getObject("shop", "db")).equals("2"));
        }
    }

    /** The failure names the proxy and its answer, not the password. */
    @Test
    void wrongPassword_isToldByItsStatus_andNotShown() throws Exception {
        Config config = caller("https")
                .withHttpsProxy(proxyUrl("user:" + NoLeaks.CANARY + "@"))
                .build();
        try (Fabric8ApiServer through = Fabric8ApiServer.of(config, RequestLimit.DEFAULT)) {
            assertThat(through.probe(Duration.ofSeconds(20)))
                    .failsWithin(Duration.ofSeconds(Patience.SECONDS))
                    .withThrowableThat()
                    .withMessageContaining("the proxy answered with HTTP 407")
                    .withMessageNotContaining(NoLeaks.CANARY);
        }
        assertThat(proxy.passed()).isEmpty();
    }
}
