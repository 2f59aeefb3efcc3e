package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;

class LastReportProperties {

    private static final long SECOND = 1_000_000_000L;

    @Property
    void isOverdue_afterAChange_fromHalfToOneAndAHalfTimesTheFrequency(
            @ForAll @LongRange(min = 1, max = 86_400) long frequency,
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random,
            @ForAll long now) {
        LastReport report = new LastReport(Duration.ofSeconds(frequency), () -> random);
        report.sent(now, "");
        report.sending(true);
        report.sent(now, "");

        long half = frequency * SECOND / 2;
        assertThat(report.isOverdue(now + half - 1)).isFalse();
        assertThat(report.isOverdue(now + 3 * half)).isTrue();
        // uniform: at the share of the range that was drawn, give or take a rounding
        long due = half + (long) (frequency * SECOND * random);
        assertThat(report.isOverdue(now + due - 2)).isFalse();
        assertThat(report.isOverdue(now + due + 2)).isTrue();
    }

    @Property
    void isOverdue_afterAReportThatWasMerelyDue_exactlyAfterTheFrequency(
            @ForAll @LongRange(min = 1, max = 86_400) long frequency,
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random,
            @ForAll long now) {
        LastReport report = new LastReport(Duration.ofSeconds(frequency), () -> random);
        report.sending(true);
        report.sent(now, "");
        report.sending(false);
        report.sent(now, "");

        assertThat(report.isOverdue(now + frequency * SECOND - 1)).isFalse();
        assertThat(report.isOverdue(now + frequency * SECOND)).isTrue();
    }

    /** Whoever wants none gives the longest time there is. */
    @Example
    void isOverdue_frequencyOfCenturies_notTheNextSecond() {
        LastReport report = new LastReport(Duration.ofNanos(Long.MAX_VALUE), () -> 0.9);
        report.sending(true);
        report.sent(0, "");

        assertThat(report.isOverdue(SECOND)).isFalse();
    }

    @Property
    void isOverdue_neverReported_always(@ForAll long now) {
        assertThat(new LastReport(Duration.ofMinutes(5), () -> 0.5).isOverdue(now))
                .isTrue();
    }

    @Example
    void isOverdue_forgotten_atOnceAndWithANewDelay() {
        LastReport report = new LastReport(Duration.ofSeconds(10), () -> 0.0);
        report.sending(true);
        report.sent(0, "");
        report.forget();
        assertThat(report.isOverdue(1)).isTrue();

        report.sending(false);
        report.sent(0, "");

        assertThat(report.isOverdue(5 * SECOND)).isTrue();
        assertThat(report.isOverdue(5 * SECOND - 1)).isFalse();
    }

    @Example
    void differsIn_podCidrs_onlyInOthersThanWereReported() {
        LastReport report = new LastReport(Duration.ofSeconds(10), () -> 0.0);
        assertThat(report.differsIn("")).isFalse();
        assertThat(report.differsIn("10.0.0.0/24")).isTrue();

        report.sent(0, "10.0.0.0/24");
        report.sent(1, "");

        assertThat(report.differsIn("10.0.0.0/24")).isFalse();
        assertThat(report.differsIn("")).isFalse();
        assertThat(report.differsIn("10.0.1.0/24")).isTrue();
    }
}
