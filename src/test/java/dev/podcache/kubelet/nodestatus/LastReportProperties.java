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
    void isDue_afterAChange_fromHalfToOneAndAHalfTimesTheFrequency(
            @ForAll @LongRange(min = 1, max = 86_400) long frequency,
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random,
            @ForAll long now) {
        StatusReports.LastReport report = new StatusReports.LastReport(Duration.ofSeconds(frequency), () -> random);
        report.sent(now, "");
        report.sending(true);
        report.sent(now, "");

        long half = frequency * SECOND / 2;
        assertThat(report.isDue(now + half - 1)).isFalse();
        assertThat(report.isDue(now + 3 * half)).isTrue();
        // the delay is the drawn share of the range, except for rounding
        long due = half + (long) (frequency * SECOND * random);
        assertThat(report.isDue(now + due - 2)).isFalse();
        assertThat(report.isDue(now + due + 2)).isTrue();
    }

    @Property
    void isDue_afterAReportWithoutAChange_exactlyAfterTheFrequency(
            @ForAll @LongRange(min = 1, max = 86_400) long frequency,
            @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) double random,
            @ForAll long now) {
        StatusReports.LastReport report = new StatusReports.LastReport(Duration.ofSeconds(frequency), () -> random);
        report.sending(true);
        report.sent(now, "");
        report.sending(false);
        report.sent(now, "");

        assertThat(report.isDue(now + frequency * SECOND - 1)).isFalse();
        assertThat(report.isDue(now + frequency * SECOND)).isTrue();
    }

    /** The longest possible frequency, which disables reports without a change. */
    @Example
    void isDue_frequencyOfCenturies_notTheNextSecond() {
        StatusReports.LastReport report = new StatusReports.LastReport(Duration.ofNanos(Long.MAX_VALUE), () -> 0.9);
        report.sending(true);
        report.sent(0, "");

        assertThat(report.isDue(SECOND)).isFalse();
    }

    @Property
    void isDue_neverReported_always(@ForAll long now) {
        assertThat(new StatusReports.LastReport(Duration.ofMinutes(5), () -> 0.5).isDue(now))
                .isTrue();
    }

    @Example
    void isDue_forgotten_atOnceAndWithANewDelay() {
        StatusReports.LastReport report = new StatusReports.LastReport(Duration.ofSeconds(10), () -> 0.0);
        report.sending(true);
        report.sent(0, "");
        report.forget();
        assertThat(report.isDue(1)).isTrue();

        report.sending(false);
        report.sent(0, "");

        assertThat(report.isDue(5 * SECOND)).isTrue();
        assertThat(report.isDue(5 * SECOND - 1)).isFalse();
    }

    @Example
    void differsIn_podCidrs_onlyIfNotTheReportedOnes() {
        StatusReports.LastReport report = new StatusReports.LastReport(Duration.ofSeconds(10), () -> 0.0);
        assertThat(report.differsIn("")).isFalse();
        assertThat(report.differsIn("10.0.0.0/24")).isTrue();

        report.sent(0, "10.0.0.0/24");
        report.sent(1, "");

        assertThat(report.differsIn("10.0.0.0/24")).isFalse();
        assertThat(report.differsIn("")).isFalse();
        assertThat(report.differsIn("10.0.1.0/24")).isTrue();
    }
}
