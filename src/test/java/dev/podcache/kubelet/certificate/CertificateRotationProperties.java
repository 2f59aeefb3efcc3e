package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;

class CertificateRotationProperties {

    @Property
    void point_isBetween70And90PercentOfTheLife(
            @ForAll @LongRange(min = 1, max = 3_000_000_000L) long seconds,
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random) {
        Instant from = Instant.ofEpochSecond(1_000_000_000);
        Instant end = from.plusSeconds(seconds);

        Instant point = CertificateRotation.point(from, end, random);

        double share = (double) Duration.between(from, point).toNanos()
                / Duration.ofSeconds(seconds).toNanos();
        assertThat(share).isBetween(0.7 - 1e-9, 0.9 + 1e-9);
    }
}
