package dev.podcache.cli.config;

import dev.podcache.object.Quoted;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses positive durations in Go's format, such as {@code 1m30s}, {@code 500ms} or {@code 1.5h}, of flags and files. As
 * in Go, a number without a unit is refused.
 */
public final class GoDuration implements ITypeConverter<Duration> {

    private static final Pattern TERM = Pattern.compile("(\\d+(?:\\.\\d*)?|\\.\\d+)(ns|us|µs|ms|s|m|h)");
    private static final Pattern ALL = Pattern.compile("(?:" + TERM.pattern() + ")+");
    private static final Pattern NUMBER = Pattern.compile("\\d+(\\.\\d+)?");
    private static final int LONGEST_TEXT = 40;
    private static final BigDecimal LONGEST_NANOS = BigDecimal.valueOf(Long.MAX_VALUE);

    @Override
    public Duration convert(String text) {
        if (text.length() > LONGEST_TEXT || !ALL.matcher(text).matches()) {
            boolean number =
                    text.length() < LONGEST_TEXT && NUMBER.matcher(text).matches();
            throw number
                    ? new TypeConversionException(Quoted.value(text) + " has no unit: write " + text + "s for seconds")
                    : refused(text, "is not a duration");
        }
        BigDecimal sum = BigDecimal.ZERO;
        Matcher terms = TERM.matcher(text);
        while (terms.find()) {
            sum = sum.add(new BigDecimal(terms.group(1)).multiply(BigDecimal.valueOf(nanosOf(terms.group(2)))));
        }
        BigDecimal nanos = sum.setScale(0, RoundingMode.DOWN);
        if (nanos.signum() == 0) {
            throw refused(text, "must be positive");
        }
        if (nanos.compareTo(LONGEST_NANOS) > 0) {
            throw refused(text, "is longer than 292 years");
        }
        return Duration.ofNanos(nanos.longValueExact());
    }

    private static long nanosOf(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "us", "µs" -> 1_000;
            case "ms" -> 1_000_000;
            case "s" -> 1_000_000_000;
            case "m" -> 60_000_000_000L;
            default -> 3_600_000_000_000L;
        };
    }

    private static TypeConversionException refused(String text, String why) {
        return new TypeConversionException(
                Quoted.value(text) + " " + why + ": write a number with a unit, such as 15s, 1m30s or 500ms");
    }
}
