package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Effort;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Credentials are read when they are needed, not for each request. The kubeconfig names an exec plugin, which fabric8
 * starts each time that it reads the kubeconfig; so the starts of the plugin count the readings, too.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class CredentialsCacheTest extends WireFixture {

    private static final int REQUESTS = 100;
    private static final int A_FEW = 5;

    private WireServer server;

    @TempDir
    private Path folder;

    private WirePlugin plugin;

    @BeforeEach
    void createPlugin() throws IOException {
        // not in a field initializer: a skipped test has an instance too, whose server would never be closed
        server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        plugin = new WirePlugin(folder);
    }

    /** fabric8's own interceptor reads the kubeconfig again for each request once its credentials are a minute old. */
    @Test
    @EnabledIf("isNightly")
    void execPluginReturnedACertificateAMinuteAgo_manyRequests_startItAFewTimes() throws Exception {
        plugin.returnCertificate("me");
        connect();
        answerOf(make(RequestKind.LIST, "before"));
        Instant old = Instant.now().plusSeconds(61);
        await().atMost(Duration.ofSeconds(90)).until(() -> Instant.now().isAfter(old));
        int before = plugin.starts();

        for (int i = 0; i < REQUESTS; i++) {
            for (RequestKind call : RequestKind.values()) {
                answerOf(make(call, "object-" + i));
            }
        }

        assertThat(plugin.starts() - before).isLessThanOrEqualTo(A_FEW);
    }

    @Test
    void tokenRefused_manyRequestsAtOnce_startThePluginOnce() throws Exception {
        plugin.returnToken("old");
        connect();
        answerOf(make(RequestKind.LIST, "before"));
        int before = plugin.starts();
        plugin.returnToken("new");
        server.refuse(request -> !request.token().equals("new"));

        List<CompletableFuture<?>> requests = manyLists();
        await().until(() -> requests.stream().allMatch(CompletableFuture::isDone));

        assertThat(plugin.starts() - before).isOne();
        assertThat(requests).noneMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void certificateRefused_manyRequestsAtOnce_startThePluginOnce() throws Exception {
        plugin.returnCertificate("old");
        connect();
        answerOf(make(RequestKind.LIST, "before"));
        int before = plugin.starts();
        plugin.returnCertificate("new");
        server.refuse(request -> !request.user().equals("new"));

        List<CompletableFuture<?>> requests = manyLists();
        await().until(() -> requests.stream().allMatch(CompletableFuture::isDone));

        assertThat(plugin.starts() - before).isOne();
        assertThat(requests).noneMatch(CompletableFuture::isCompletedExceptionally);
    }

    static boolean isNightly() {
        return Effort.NIGHTLY;
    }

    private List<CompletableFuture<?>> manyLists() {
        return IntStream.range(0, REQUESTS)
                .<CompletableFuture<?>>mapToObj(i -> make(RequestKind.LIST, "object-" + i))
                .toList();
    }

    private void connect() throws IOException {
        Path kubeconfig = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(kubeconfig.toFile()));
    }
}
