package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Kubeconfig;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ConnectProxy;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a kubeconfig and a client's configuration say about connections holds for every kind of request. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class ConnectionOptionsTest extends WireFixture {

    private static final String NAME = "api.cluster.test";

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tlsServerName_isVerifiedInPlaceOfTheHost(RequestKind call) throws InterruptedException {
        WireServer server = closeLater(WireServer.named(NAME));
        connect(config(server.url()).withTlsServerName(NAME).build());

        answerOf(make(call, "object"));

        assertThat(server.arrived).extracting(WireServer.Arrived::serverName).containsOnly(NAME);
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tlsServerName_certificateOfTheHostOnly_isRefused(RequestKind call) throws InterruptedException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        connect(config(server.url()).withTlsServerName(NAME).build());

        assertThat(failureOf(make(call, "object")).reason()).isEqualTo(FailureReason.UNAVAILABLE);

        assertThat(server.arrived).isEmpty();
    }

    /** The JDK takes such a name for no host name, kubectl and DNS know it. */
    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tlsServerNameWithAnUnderscore_isVerifiedAsByKubectl(RequestKind call) throws InterruptedException {
        WireServer server = closeLater(WireServer.named("api_1.cluster.test"));
        connect(config(server.url()).withTlsServerName("API_1.cluster.test").build());

        answerOf(make(call, "object"));

        assertThat(server.arrived).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tlsServerNameWithAnUnderscore_certificateOfAnotherName_isRefused(RequestKind call)
            throws InterruptedException {
        WireServer server = closeLater(WireServer.named(NAME));
        connect(config(server.url()).withTlsServerName("api_1.cluster.test").build());

        ApiServerException failure = failureOf(make(call, "object"));

        assertThat(failure).hasMessageContaining("matching api_1.cluster.test found");
        assertThat(server.arrived).isEmpty();
    }

    /** Go sends neither as SNI. */
    @ParameterizedTest
    @ValueSource(strings = {"fd00::1", "192.0.2.1"})
    void tlsServerNameThatIsAnAddress_isVerifiedAndNotSent(String address) throws InterruptedException {
        WireServer server = closeLater(WireServer.named(address));
        connect(config(server.url()).withTlsServerName(address).build());

        answerOf(make(RequestKind.GET, "object"));

        assertThat(server.arrived).extracting(WireServer.Arrived::serverName).containsOnly("");
    }

    @Test
    void tlsServerNameThatIsAnAddress_certificateOfAnother_isRefused() throws InterruptedException {
        WireServer server = closeLater(WireServer.named("fd00::2"));
        connect(config(server.url()).withTlsServerName("fd00::1").build());

        ApiServerException failure = failureOf(make(RequestKind.GET, "object"));

        assertThat(failure).hasMessageContaining("matching IP address fd00::1 found");
        assertThat(server.arrived).isEmpty();
    }

    /** The JDK refuses to send such a name. */
    @Test
    void tlsServerNameWithAnUnderscore_nothingIsVerified_isConnectedTo() throws InterruptedException {
        WireServer server = closeLater(WireServer.named(NAME));
        connect(config(server.url())
                .withTrustCerts(true)
                .withTlsServerName("kube_api")
                .build());

        answerOf(make(RequestKind.GET, "object"));

        assertThat(server.arrived).isNotEmpty();
    }

    @Test
    void tlsServerNameWithADotAtItsEnd_isVerifiedAndSentWithoutIt() throws InterruptedException {
        WireServer server = closeLater(WireServer.named(NAME));
        connect(config(server.url()).withTlsServerName(NAME + ".").build());

        answerOf(make(RequestKind.GET, "object"));

        assertThat(server.arrived).extracting(WireServer.Arrived::serverName).containsOnly(NAME);
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void http2Disable_requestsUseHttp11(RequestKind call) throws InterruptedException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        connect(config(server.url()).withHttp2Disable(true).build());

        answerOf(make(call, "object"));

        assertThat(server.arrived).extracting(WireServer.Arrived::version).containsOnly(HttpVersion.HTTP_1_1);
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void kubeconfigWithAnHttpsProxyUrl_isReachedByTls(RequestKind call, @TempDir Path folder) throws Exception {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        ConnectProxy proxy =
                closeLater(ConnectProxy.byTls(server.port(), WireCertificates.serverPem(), WireCertificates.keyPem()));
        connect(kubeconfig(folder, server, "proxy-url: '" + proxy.url() + "'", "token: abc"));

        answerOf(make(call, "object"));

        assertThat(proxy.tunnels()).containsOnly("");
        assertThat(server.arrived).extracting(WireServer.Arrived::token).containsOnly("abc");
    }

    @Test
    void kubeconfigWithAnHttpsProxyUrl_proxyOfAnotherAuthority_isRefused(@TempDir Path folder) throws Exception {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        TestCertificates other = TestCertificates.another();
        ConnectProxy proxy = closeLater(ConnectProxy.byTls(server.port(), other.serverPem(), other.privateKeyPem()));
        connect(kubeconfig(folder, server, "proxy-url: '" + proxy.url() + "'", "token: abc"));

        assertThat(failureOf(make(RequestKind.GET, "object"))).hasMessageContaining("(the proxy: ");

        assertThat(proxy.tunnels()).isEmpty();
    }

    @Test
    void kubeconfigWithAnHttpsProxyUrl_certificateOfAnotherName_isRefused(@TempDir Path folder) throws Exception {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        ConnectProxy proxy = closeLater(
                ConnectProxy.byTls(server.port(), WireCertificates.serverPem(NAME), WireCertificates.keyPem()));
        connect(kubeconfig(folder, server, "proxy-url: '" + proxy.url() + "'", "token: abc"));

        assertThat(failureOf(make(RequestKind.GET, "object"))).hasMessageContaining("(the proxy: ");

        assertThat(proxy.tunnels()).isEmpty();
    }

    /** The tunnel is asked for the host of the server, which the proxy may know and we may not. */
    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void kubeconfigWithAnHttpProxyUrl_httpsServer_isReachedThroughIt(RequestKind call, @TempDir Path folder)
            throws Exception {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        ConnectProxy proxy = closeLater(ConnectProxy.askingForCredentialsTo(server.port()));
        String url = proxy.url().replace("http://", "HTTP://user:p%40ss@");
        connect(kubeconfig(folder, server, "proxy-url: '" + url + "'", "token: abc"));

        answerOf(make(call, "object"));

        assertThat(proxy.tunnels())
                .containsOnly(
                        "Basic " + Base64.getEncoder().encodeToString("user:p@ss".getBytes(StandardCharsets.UTF_8)));
        assertThat(server.arrived).extracting(WireServer.Arrived::token).containsOnly("abc");
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void kubeconfigOfUpperCaseScheme_ecKeyInPkcs8_isUsed(RequestKind call, @TempDir Path folder) throws Exception {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        Files.writeString(folder.resolve("user.crt"), WireCertificates.clientPem(pair.getPublic(), "jane"));
        Files.writeString(
                folder.resolve("user.key"),
                PemText.of("PRIVATE KEY", pair.getPrivate().getEncoded()));
        Config config = kubeconfig(
                folder, server, "disable-compression: false", "client-certificate: user.crt, client-key: user.key");
        // for fabric8's own client, which the fixture makes and does not use
        config.setClientKeyAlgo("EC");
        connect(config);

        answerOf(make(call, "object"));

        assertThat(server.arrived).extracting(WireServer.Arrived::user).containsOnly("jane");
    }

    /** A library would quote the value, and what it throws would be logged. */
    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tokenWithALineBreak_isRefusedAtOnceAndNotShown(RequestKind call, @TempDir Path folder, NoLeaks leaks)
            throws Exception {
        leaks.allowWarnings("credentials");
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        connect(kubeconfig(folder, server, "tls-server-name: localhost", "token: \"" + NoLeaks.CANARY + "\\n\""));

        ApiServerException failure = failureOf(make(call, "object"));

        assertThat(failure)
                .hasMessageContaining("user \"u\": token has a line break")
                .hasMessageNotContaining(NoLeaks.CANARY);
        assertThat(server.arrived).isEmpty();
    }

    private static Config kubeconfig(Path folder, WireServer server, String cluster, String user) throws IOException {
        Path file = Files.writeString(folder.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: '%s', certificate-authority-data: %s, %s}}]
                users: [{name: u, user: {%s}}]
                """.formatted(
                        server.url().replace("https://", "HTTPS://"),
                        WireCertificates.base64(WireCertificates.authorityPem()),
                        cluster,
                        user));
        return Kubeconfig.read(file, "--kubeconfig").config(Map.of());
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void proxyPasswordWithAColon_arrivesWhole(RequestKind call) throws InterruptedException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        ConnectProxy proxy = closeLater(ConnectProxy.askingForCredentialsTo(server.port()));
        connect(config(server.url())
                .withHttpsProxy(proxy.url())
                .withProxyUsername("user")
                .withProxyPassword("pass:word:")
                .build());

        answerOf(make(call, "object"));

        String expected = Base64.getEncoder().encodeToString("user:pass:word:".getBytes(StandardCharsets.UTF_8));
        assertThat(proxy.tunnels()).containsOnly("Basic " + expected);
    }
}
