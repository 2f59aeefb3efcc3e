package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.ConnectProxy;
import dev.podcache.testing.NoLeaks;
import io.vertx.core.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
