package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.time.Duration;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

class BackoffProperties {

    @Property
    void pause_withoutJitter_doublesUpToTheCap(
            @ForAll("backoffs") Backoff backoff, @ForAll @IntRange(min = 1, max = 200) int failures) {
        BigInteger doubled = BigInteger.valueOf(backoff.first().toNanos()).shiftLeft(failures - 1);
        BigInteger capped = doubled.min(BigInteger.valueOf(backoff.cap().toNanos()));

        assertThat(backoff.pause(failures, 0)).isEqualTo(Duration.ofNanos(capped.longValueExact()));
    }

    @Property
    void pause_anyJitter_isBetweenHalfAndAll(
            @ForAll("backoffs") Backoff backoff,
            @ForAll @IntRange(min = 1, max = 200) int failures,
            @ForAll @DoubleRange(max = 1, maxIncluded = false) double random) {
        Duration whole = backoff.pause(failures, 0);

        assertThat(backoff.pause(failures, random)).isBetween(whole.dividedBy(2), whole);
    }

    @Example
    void pause_moreFailuresThanAnInt_staysAtTheCap() {
        Backoff backoff = new Backoff(Duration.ofNanos(1), Duration.ofNanos(Long.MAX_VALUE));

        assertThat(backoff.pause(Integer.MAX_VALUE, 0)).isBetween(Duration.ofNanos(1L << 62), backoff.cap());
    }

    @Example
    void pause_doubledJustFitsUnderTheCap_isNotTheCap() {
        Backoff backoff = new Backoff(Duration.ofNanos(2), Duration.ofNanos(5));

        assertThat(backoff.pause(2, 0)).isEqualTo(Duration.ofNanos(4));
    }

    @Example
    void pause_nearlyOne_isHalf() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

        assertThat(backoff.pause(1, Math.nextDown(1.0)).toMillis()).isEqualTo(500);
    }

    @Example
    void constructor_noPause_isRefused() {
        assertThatThrownBy(() -> new Backoff(Duration.ZERO, Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("but they are PT0S and PT1S");
    }

    @Example
    void constructor_capBelowTheFirst_isRefused() {
        assertThatThrownBy(() -> new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Provide
    Arbitrary<Backoff> backoffs() {
        Arbitrary<Long> nanos =
                Arbitraries.longs().between(1, Duration.ofDays(1).toNanos());
        return Combinators.combine(nanos, nanos)
                .as((a, b) -> new Backoff(Duration.ofNanos(Math.min(a, b)), Duration.ofNanos(Math.max(a, b))));
    }
}
