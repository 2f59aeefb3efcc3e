package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** What is logged when credentials cannot be renewed. {@link NoLeaks} looks for the canary in every line. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class CredentialFailureLogTest extends WireFixture {

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @TempDir
    private Path folder;

    @BeforeEach
    void captureLog(NoLeaks leaks) {
        leaks.allowWarnings("credentials");
        Logger ours = (Logger) LoggerFactory.getLogger("dev.podcache");
        log.start();
        ours.addAppender(log);
        closeLater(() -> ours.detachAppender(log));
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void tokenProviderThrowsAtRenewal_logHasNoStackTrace(RequestKind call) throws InterruptedException {
        AtomicBoolean throwing = new AtomicBoolean();
        connect(config(server.url())
                .withOauthTokenProvider(() -> {
                    if (throwing.get()) {
                        throw new IllegalStateException("the identity provider is down");
                    }
                    return "token";
                })
                .build());
        server.refuse(request -> {
            throwing.set(true);
            return true;
        });

        failureOf(make(call, "object"));

        List<ILoggingEvent> traces = log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .filter(event -> event.getThrowableProxy() != null)
                .toList();
        assertThat(traces).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void execPluginFailsAtRenewal_logHasNotItsOutput(RequestKind call) throws Exception {
        WirePlugin plugin = new WirePlugin(folder);
        plugin.returnToken("token");
        Path kubeconfig = new WireKubeconfig(folder, server.url()).writePlugin(plugin);
        connect(Config.fromKubeconfig(kubeconfig.toFile()));
        plugin.fail("password " + NoLeaks.CANARY + " refused");
        server.refuse(request -> true);

        assertThat(failureOf(make(call, "object")).reason()).isEqualTo(FailureReason.UNAUTHORIZED);
    }
}
