package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The credentials of a client are replaced where they came from, and the server answers 401 to the old ones. The next
 * request, of whatever kind, reaches the server with the new ones, and its caller does not see the 401.
 */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class CertificateRotationTest extends WireFixture {

    /** Longer than the pause between two readings of the same credentials. */
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final SkippedTime time = new SkippedTime();
    private WireServer server;

    @TempDir
    private Path folder;

    /** Where a client has its credentials from. */
    private enum CredentialSource {
        CERTIFICATE_FILE,
        CERTIFICATE_IN_THE_KUBECONFIG,
        CERTIFICATE_OF_A_PLUGIN,
        TOKEN_IN_THE_KUBECONFIG,
        TOKEN_OF_A_PLUGIN
    }

    /** Puts the credentials of another user where the client has its own from. */
    private interface Replacement {
        void withUser(String name) throws IOException;
    }

    /** The real time, of which a test can skip some. Timers are late, so that a busy machine does not fail a heartbeat. */
    private static final class SkippedTime extends ForwardingTimekeeper {

        private final AtomicLong skipped = new AtomicLong();

        SkippedTime() {
            super(Timekeeper.system());
        }

        void skip(Duration duration) {
            skipped.addAndGet(duration.toNanos());
        }

        @Override
        public long nanoTime() {
            return super.nanoTime() + skipped.get();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            return super.schedule(delay.multipliedBy(5), task);
        }
    }

    private static Stream<Arguments> sourcesAndVersions() {
        return Arrays.stream(CredentialSource.values())
                .flatMap(source -> Stream.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1)
                        .map(version -> Arguments.of(source, version)));
    }

    @ParameterizedTest
    @MethodSource("sourcesAndVersions")
    void credentialsReplaced_callRefused_isRepeatedWithTheNewOnes(CredentialSource source, HttpVersion version)
            throws Exception {
        server = closeLater(WireServer.speaking(version));
        Replacement replacement = replacementIn(source);
        replacement.withUser("old");
        connect(configOf(source), time);
        for (RequestKind call : RequestKind.values()) {
            answerOf(make(call, "before"));
        }

        for (RequestKind call : RequestKind.values()) {
            String user = "new-" + call;
            replacement.withUser(user);
            server.refuse(request -> !userOf(request).equals(user));
            time.skip(PAUSE);

            answerOf(make(call, "after-" + call));

            assertThat(server.arrived("after-" + call))
                    .extracting(CertificateRotationTest::userOf)
                    .as(call.toString())
                    .endsWith(user)
                    .hasSizeLessThanOrEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_2", "HTTP_1_1"})
    void noOtherCredentialsThere_callRefused_failsAfterTwoRequestsAtMost(HttpVersion version) throws Exception {
        server = closeLater(WireServer.speaking(version));
        replacementIn(CredentialSource.CERTIFICATE_IN_THE_KUBECONFIG).withUser("old");
        connect(configOf(CredentialSource.CERTIFICATE_IN_THE_KUBECONFIG), time);
        server.refuse(request -> true);

        for (RequestKind call : RequestKind.values()) {
            time.skip(PAUSE);

            assertThat(failureOf(make(call, "after-" + call)).reason())
                    .as(call.toString())
                    .isEqualTo(FailureReason.UNAUTHORIZED);

            assertThat(server.arrived("after-" + call)).as(call.toString()).hasSizeBetween(1, 2);
        }
    }

    private Replacement replacementIn(CredentialSource source) throws IOException {
        WireKubeconfig kubeconfig = new WireKubeconfig(folder, server.url());
        return switch (source) {
            case CERTIFICATE_FILE ->
                name -> {
                    Files.writeString(folder.resolve("client.pem"), WireCertificates.clientPem(name));
                    Files.writeString(folder.resolve("client.key"), WireCertificates.keyPem());
                };
            case CERTIFICATE_IN_THE_KUBECONFIG -> kubeconfig::writeCertificate;
            case TOKEN_IN_THE_KUBECONFIG -> kubeconfig::writeToken;
            case CERTIFICATE_OF_A_PLUGIN -> plugin(kubeconfig)::returnCertificate;
            case TOKEN_OF_A_PLUGIN -> plugin(kubeconfig)::returnToken;
        };
    }

    private WirePlugin plugin(WireKubeconfig kubeconfig) throws IOException {
        WirePlugin plugin = new WirePlugin(folder);
        kubeconfig.writePlugin(plugin);
        return plugin;
    }

    private Config configOf(CredentialSource source) {
        return source == CredentialSource.CERTIFICATE_FILE
                ? config(server.url())
                        .withClientCertFile(folder.resolve("client.pem").toString())
                        .withClientKeyFile(folder.resolve("client.key").toString())
                        .build()
                : Config.fromKubeconfig(folder.resolve("kubeconfig").toFile());
    }

    private static String userOf(WireServer.Arrived request) {
        return request.user() + request.token();
    }
}
