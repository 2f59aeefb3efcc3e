package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client certificate is replaced where it came from, and the server answers 401 to the old one. The next request, of
 * whatever kind, reaches the server with the new certificate, and its caller does not see the 401.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class CertificateRotationTest extends WireFixture {

    private WireServer server;

    @TempDir
    private Path folder;

    private static Stream<Arguments> callsAndVersions() {
        return Arrays.stream(Call.values())
                .flatMap(call -> Stream.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1)
                        .map(version -> Arguments.of(call, version)));
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void certificateFileReplaced_callRefused_isRepeatedWithTheNewCertificate(Call call, HttpVersion version)
            throws Exception {
        start(version);
        Path certificate = Files.writeString(folder.resolve("client.pem"), WireCertificates.clientPem("old"));
        Path key = Files.writeString(folder.resolve("client.key"), WireCertificates.keyPem());
        connect(config(server.url())
                .withClientCertFile(certificate.toString())
                .withClientKeyFile(key.toString())
                .build());
        answerOf(make(call, "before"));

        Files.writeString(certificate, WireCertificates.clientPem("new"));

        assertCallArrivesAsNew(call);
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void certificateInTheKubeconfigReplaced_callRefused_isRepeatedWithTheNewCertificate(Call call, HttpVersion version)
            throws Exception {
        start(version);
        WireKubeconfig kubeconfig = new WireKubeconfig(folder, server.url());
        Path file = kubeconfig.writeCertificate("old");
        connect(Config.fromKubeconfig(file.toFile()));
        answerOf(make(call, "before"));

        kubeconfig.writeCertificate("new");

        assertCallArrivesAsNew(call);
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void execPluginReturnsAnotherCertificate_callRefused_isRepeatedWithTheNewCertificate(Call call, HttpVersion version)
            throws Exception {
        start(version);
        WirePlugin plugin = new WirePlugin(folder);
        plugin.returnCertificate("old");
        Path file = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(file.toFile()));
        answerOf(make(call, "before"));

        plugin.returnCertificate("new");

        assertCallArrivesAsNew(call);
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void tokenInTheKubeconfigReplaced_callRefused_isRepeatedWithTheNewToken(Call call, HttpVersion version)
            throws Exception {
        start(version);
        WireKubeconfig kubeconfig = new WireKubeconfig(folder, server.url());
        Path file = kubeconfig.writeToken("old");
        connect(Config.fromKubeconfig(file.toFile()));
        answerOf(make(call, "before"));

        kubeconfig.writeToken("new");

        assertCallArrivesAsNew(call);
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void execPluginReturnsAnotherToken_callRefused_isRepeatedWithTheNewToken(Call call, HttpVersion version)
            throws Exception {
        start(version);
        WirePlugin plugin = new WirePlugin(folder);
        plugin.returnToken("old");
        Path file = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(file.toFile()));
        answerOf(make(call, "before"));

        plugin.returnToken("new");

        assertCallArrivesAsNew(call);
    }

    @ParameterizedTest
    @MethodSource("callsAndVersions")
    void noOtherCredentialsThere_callRefused_failsAfterTwoRequestsAtMost(Call call, HttpVersion version)
            throws Exception {
        start(version);
        Path file = new WireKubeconfig(folder, server.url()).writeCertificate("old");
        connect(Config.fromKubeconfig(file.toFile()));
        server.refuse(request -> true);

        assertThat(failureOf(make(call, "after")).reason()).isEqualTo(FailureReason.UNAUTHORIZED);

        assertThat(server.arrived("after")).hasSizeBetween(1, 2);
    }

    private void start(HttpVersion version) throws IOException {
        server = closeLater(WireServer.speaking(version));
    }

    private void assertCallArrivesAsNew(Call call) throws InterruptedException {
        server.refuse(
                request -> !request.user().equals("new") && !request.token().equals("new"));

        answerOf(make(call, "after"));

        List<String> identities = server.arrived("after").stream()
                .map(request -> request.user() + request.token())
                .toList();
        assertThat(identities).endsWith("new").hasSizeLessThanOrEqualTo(2);
    }
}
