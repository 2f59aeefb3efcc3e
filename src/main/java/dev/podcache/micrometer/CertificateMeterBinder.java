package dev.podcache.micrometer;

import dev.podcache.kubelet.certificate.CertificateRotation;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * Shows as Micrometer meters when the client certificate of a node expires, and when it is rotated. Thread-safe.
 *
 * <table>
 * <caption>Meters, each with the given tags</caption>
 * <tr><th>meter</th><th>what it is</th></tr>
 * <tr><td>{@code kubelet.certificate.manager.client.ttl}</td><td>seconds until the certificate in use expires; negative
 * if it has; infinite if it could not be read yet</td></tr>
 * <tr><td>{@code podcache.node.certificate.next.rotation}</td><td>seconds until the next rotation begins; negative if it
 * has, but has no certificate yet; NaN if the certificate could not be read yet</td></tr>
 * <tr><td>{@code kubelet.certificate.manager.client.expiration.renew.errors}</td><td>{@link
 * CertificateRotation#failures}</td></tr>
 * </table>
 *
 * <p>Meters that a kubelet has, too, have its names. The time is that of the registry's clock. The meters refer to the
 * rotation weakly: keep a reference to it until you close it.
 */
public final class CertificateMeterBinder implements MeterBinder {

    private final CertificateRotation rotation;
    private final Tags tags;

    /**
     * Makes a binder; {@link #bindTo} adds the meters to a registry.
     *
     * @param tags for all meters, which tell the agents of a process apart
     */
    public CertificateMeterBinder(CertificateRotation rotation, Iterable<Tag> tags) {
        this.rotation = Objects.requireNonNull(rotation, "rotation");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        SourceMeters<CertificateRotation> meters = new SourceMeters<>(rotation, tags, registry);
        meters.gauge(
                "kubelet.certificate.manager.client.ttl",
                "seconds",
                "Time until the client certificate expires",
                each -> secondsUntil(each.expires(), registry, Double.POSITIVE_INFINITY));
        meters.gauge(
                "podcache.node.certificate.next.rotation",
                "seconds",
                "Time until the client certificate is rotated",
                each -> secondsUntil(each.next(), registry, Double.NaN));
        meters.counter(
                "kubelet.certificate.manager.client.expiration.renew.errors",
                "Rotations of the client certificate that failed",
                CertificateRotation::failures);
    }

    private static double secondsUntil(Optional<Instant> point, MeterRegistry registry, double unknown) {
        return point.map(at -> Duration.between(
                                Instant.ofEpochMilli(registry.config().clock().wallTime()), at)
                        .toSeconds())
                .map(Long::doubleValue)
                .orElse(unknown);
    }
}
