package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The token of a service account is replaced in its file, as a kubelet does it for the pods of a node. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class TokenFileRotationTest extends WireFixture {

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));

    @TempDir
    private Path folder;

    private Path token;

    @BeforeEach
    void setProperties() throws IOException {
        token = Files.writeString(folder.resolve("token"), "old");
        Path authority = Files.writeString(folder.resolve("ca.crt"), WireCertificates.authorityPem());
        properties(token, authority).forEach(System::setProperty);
    }

    @AfterEach
    void clearProperties() {
        properties(token, token).keySet().forEach(System::clearProperty);
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tokenFileReplaced_callRefused_isRepeatedWithTheNewToken(RequestKind call) throws Exception {
        connect(Config.autoConfigure(null));
        answerOf(make(call, "before"));

        Files.writeString(token, "new");
        server.refuse(request -> !request.token().equals("new"));

        answerOf(make(call, "after"));
        Stream<String> tokens = server.arrived("after").stream().map(WireServer.Arrived::token);
        assertThat(tokens).endsWith("new").hasSizeLessThanOrEqualTo(2);
    }

    private Map<String, String> properties(Path token, Path authority) {
        return Map.of(
                Config.KUBERNETES_AUTH_TRYKUBECONFIG_SYSTEM_PROPERTY,
                "false",
                Config.KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN_FILE_SYSTEM_PROPERTY,
                token.toString(),
                Config.KUBERNETES_CA_CERTIFICATE_FILE_SYSTEM_PROPERTY,
                authority.toString(),
                Config.KUBERNETES_MASTER_SYSTEM_PROPERTY,
                server.url());
    }
}
