package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import dev.podcache.micrometer.CertificateMeterBinder;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NoLeaks.class)
class NodeCertificateRotationTest {

    private static final Duration LIFE = Duration.ofDays(100);

    /** With a random number of a half. */
    private static final Duration ROTATED_AFTER = Duration.ofDays(80);

    private static final String TTL = "kubelet.certificate.manager.client.ttl";
    private static final String NEXT_ROTATION = "podcache.node.certificate.next.rotation";
    private static final String FAILURES = "kubelet.certificate.manager.client.expiration.renew.errors";

    @TempDir
    private Path directory;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeSigningApi api = new FakeSigningApi();
    private final AtomicInteger rereads = new AtomicInteger();
    private NodeCertificate certificate;
    private CertificateRotation rotation;

    @BeforeEach
    void storeAndStart() {
        certificate = NodeCertificate.of("edge-1", directory);
        CompletableFuture<X509Certificate> first = certificate.request(api.requests(time), line -> {});
        sign();
        assertThat(first).isCompleted();
        rotation = rotation();
        rotation.start();
    }

    @AfterEach
    void close() {
        rotation.close();
        assertThat(api.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
        time.close();
    }

    private CertificateRotation rotation() {
        return rotation(rereads::incrementAndGet);
    }

    private CertificateRotation rotation(Runnable reread) {
        return new CertificateRotation(certificate, api.requests(time), reread, () -> 0.5);
    }

    /** X.509 has no fractions of seconds. */
    private Instant now() {
        return Instant.ofEpochSecond(time.wallTime().getEpochSecond());
    }

    private void sign() {
        api.sign(api.latest(), now(), now().plus(LIFE));
    }

    private X509Certificate stored() {
        return certificate.validAt(now()).orElseThrow();
    }

    @Test
    void certificate_isRotatedAtItsPoint_againAndAgain() {
        for (int rotations = 1; rotations <= 10; rotations++) {
            X509Certificate before = stored();
            time.advance(ROTATED_AFTER.minusSeconds(2));
            assertThat(api.created()).hasSize(rotations);

            time.advance(Duration.ofSeconds(4));
            assertThat(api.created()).hasSize(rotations + 1);
            sign();

            assertThat(stored().getPublicKey()).isNotEqualTo(before.getPublicKey());
            assertThat(rotation.expires()).contains(now().plus(LIFE));
            assertThat(rotation.next()).contains(now().plus(ROTATED_AFTER));
            assertThat(rereads).hasValue(rotations);
        }
    }

    @Test
    void certificate_isIssuedBeyondItsPoint_isReplacedOnceAMinute() {
        time.advance(ROTATED_AFTER);
        for (int minutes = 1; minutes <= 10; minutes++) {
            int before = api.created().size();
            api.sign(api.latest(), now().minus(LIFE), now().plusSeconds(600));
            time.advance(Duration.ofSeconds(59));
            assertThat(api.created()).hasSize(before);

            time.advance(Duration.ofSeconds(2));
            assertThat(api.created()).hasSize(before + 1);
        }
    }

    @Test
    void start_aSecondTime_isRefused() {
        assertThatIllegalStateException().isThrownBy(rotation::start).withMessageContaining("was started before");
    }

    @Test
    @ExpectedWarnings("the client did not read")
    void client_thatDoesNotReadAgain_isNoReasonForAnotherRequest() {
        rotation.close();
        rotation = rotation(() -> {
            throw new IllegalStateException("no new credentials");
        });
        rotation.start();
        time.advance(ROTATED_AFTER.plusSeconds(2));
        sign();

        time.advance(ROTATED_AFTER.minusSeconds(10));

        assertThat(api.created()).hasSize(2);
        assertThat(time.scheduledTasks()).isOne();
    }

    @Test
    void point_alreadyOverAtTheStart_rotatesAtOnce() {
        rotation.close();
        time.advance(ROTATED_AFTER.plusDays(5));
        rotation = rotation();

        rotation.start();

        assertThat(api.created()).hasSize(2);
    }

    @Test
    @ExpectedWarnings(
            "was denied (NotOurs); if node edge-1 may be in the cluster, another request follows; it is used until")
    void request_denied_keepsTheCertificateAndRequestsWithANewKey() {
        X509Certificate before = stored();
        time.advance(ROTATED_AFTER.plusSeconds(2));
        api.decide(api.latest(), "Denied", "NotOurs", "");
        assertThat(stored()).isEqualTo(before);

        time.advance(Duration.ofSeconds(2));

        assertThat(api.created()).hasSize(3).doesNotHaveDuplicates();
        sign();
        assertThat(stored()).isNotEqualTo(before);
    }

    @Test
    @ExpectedWarnings("start again with --bootstrap-kubeconfig")
    void requests_refused_areRepeatedWithPausesThatGrowTo32Seconds() {
        api.failCreations(FailureReason.UNAUTHORIZED);
        time.advance(ROTATED_AFTER.plusMinutes(10));

        api.failCreations(null);
        time.advance(Duration.ofSeconds(33));
        sign();

        assertThat(rotation.expires()).contains(now().plus(LIFE));
    }

    @Test
    @ExpectedWarnings("was not approved and signed within 15 min")
    void request_notApproved_isReplaced() {
        time.advance(ROTATED_AFTER.plusSeconds(2));

        time.advance(PendingRequest.TIMEOUT.plusSeconds(3));

        assertThat(api.created()).hasSize(3).doesNotHaveDuplicates();
    }

    private double meter(String name) {
        Clock clock = new MockClock() {
            @Override
            public long wallTime() {
                return time.wallTime().toEpochMilli();
            }
        };
        MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
        new CertificateMeterBinder(rotation, Tags.empty()).bindTo(registry);
        return registry.get(name).meter().measure().iterator().next().getValue();
    }

    @Test
    void meters_certificateNotRead_areInfiniteAndNotANumber() {
        rotation.close();
        rotation = rotation();

        assertThat(meter(TTL)).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(meter(NEXT_ROTATION)).isNaN();
        assertThat(meter(FAILURES)).isZero();
    }

    @Test
    @ExpectedWarnings("start again with --bootstrap-kubeconfig")
    void meters_rotationsFail_showHowLateItIsAndHowOftenTheyFailed() {
        api.failCreations(FailureReason.UNAUTHORIZED);
        assertThat(meter(TTL)).isCloseTo((double) LIFE.toSeconds(), within(1.0));
        assertThat(meter(NEXT_ROTATION)).isCloseTo((double) ROTATED_AFTER.toSeconds(), within(1.0));

        time.advance(ROTATED_AFTER.plusMinutes(10));

        assertThat(meter(TTL))
                .isCloseTo((double) LIFE.minus(ROTATED_AFTER).minusMinutes(10).toSeconds(), within(1.0));
        assertThat(meter(NEXT_ROTATION)).isCloseTo(-600, within(1.0));
        // after 2, 4, 8 and 16 s, then every 32 s at most
        assertThat(meter(FAILURES)).isGreaterThan(15);
    }

    @Test
    void request_pendingAtARestart_isTakenUp() {
        time.advance(ROTATED_AFTER.plusSeconds(2));
        rotation.close();
        rotation = rotation();

        rotation.start();
        sign();

        assertThat(api.created()).hasSize(2);
        assertThat(rotation.expires()).contains(now().plus(LIFE));
    }
}
