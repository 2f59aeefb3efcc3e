package dev.podcache.kubelet.server;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4. A series appears once, whatever is reported: Prometheus would
 * reject the whole scrape. Not thread-safe.
 */
final class MetricsText {

    private static final int NANO_DIGITS = 9;

    private final StringBuilder text = new StringBuilder();
    /** Of the metric that was begun last. */
    private final Set<String> series = new HashSet<>();

    /** Begins a metric. All its samples must follow before another one begins. */
    void head(String name, String type, String help) {
        series.clear();
        text.append("# HELP ").append(name).append(' ').append(help).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    /**
     * Writes a sample, unless the metric has one of this name with these labels already.
     *
     * @param labels in the order in which they are written
     * @param time of the measurement; null for the time of the scrape
     */
    void sample(String name, Map<String, String> labels, String value, @Nullable Instant time) {
        int start = text.length();
        text.append(name);
        char separator = '{';
        for (Map.Entry<String, String> label : labels.entrySet()) {
            text.append(separator).append(label.getKey()).append("=\"");
            escape(label.getValue());
            text.append('"');
            separator = ',';
        }
        if (separator == ',') {
            text.append('}');
        }
        if (!series.add(text.substring(start))) {
            text.setLength(start);
            return;
        }
        text.append(' ').append(value);
        if (time != null) {
            text.append(' ').append(time.toEpochMilli());
        }
        text.append('\n');
    }

    /** A runtime may report any text; it must not end the label. */
    private void escape(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '\\' -> text.append("\\\\");
                case '"' -> text.append("\\\"");
                case '\n' -> text.append("\\n");
                default -> text.append(c);
            }
        }
    }

    static String seconds(Duration duration) {
        return BigDecimal.valueOf(duration.getSeconds())
                .add(BigDecimal.valueOf(duration.getNano(), NANO_DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }

    /** Returns the seconds since 1970. */
    static String seconds(Instant time) {
        return seconds(Duration.between(Instant.EPOCH, time));
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
