package dev.podcache.testing;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A strict parser of Prometheus' text format 0.0.4, after "Exposition formats" of its documentation. Refuses what
 * Prometheus refuses, and what it only tolerates: a sample without a type, lines of a metric that are not together, and a
 * series that appears twice.
 */
public final class PrometheusText {

    private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
    private static final Pattern COMMENT = Pattern.compile("# (HELP|TYPE) (" + NAME + ")(?: (.*))?");
    private static final Pattern SAMPLE = Pattern.compile(
            "(" + NAME + ")(?:\\{(.*)\\})? (NaN|[+-]Inf|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(?: (-?[0-9]+))?");
    private static final Pattern LABEL =
            Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"(?:,|$)");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");
    private static final Set<String> TYPES = Set.of("counter", "gauge", "histogram", "summary", "untyped");
    private static final List<String> SUFFIXES = List.of("_bucket", "_sum", "_count");

    private final Map<String, String> types = new LinkedHashMap<>();
    private final List<MetricLine> samples = new ArrayList<>();
    private final Set<String> helped = new HashSet<>();
    private final Set<String> finished = new HashSet<>();
    private @Nullable String current;

    /** One line with a value. */
    public record MetricLine(String name, Map<String, String> labels, double value) {}

    private PrometheusText() {}

    /**
     * Parses a text.
     *
     * @throws IllegalArgumentException if a line is not allowed; the message has it
     */
    public static PrometheusText parse(String text) {
        PrometheusText parsed = new PrometheusText();
        if (!text.isEmpty() && !text.endsWith("\n")) {
            throw new IllegalArgumentException("the last line does not end");
        }
        Set<Object> series = new HashSet<>();
        Splitter.on('\n').omitEmptyStrings().split(text).forEach(line -> {
            if (line.startsWith("#")) {
                parsed.comment(line);
            } else {
                MetricLine sample = parsed.sample(line);
                require(series.add(List.of(sample.name(), sample.labels())), "series appears twice", line);
            }
        });
        return parsed;
    }

    /** Returns the type of each metric. */
    public Map<String, String> types() {
        return ImmutableMap.copyOf(types);
    }

    public List<MetricLine> samples() {
        return List.copyOf(samples);
    }

    /** Returns the names of the samples: for a histogram, those with a suffix. */
    public Set<String> names() {
        return samples.stream().map(MetricLine::name).collect(ImmutableSet.toImmutableSet());
    }

    /** Returns the names of the labels of a metric. */
    public Set<String> labels(String name) {
        Set<String> labels = new LinkedHashSet<>();
        samples.stream()
                .filter(sample -> sample.name().equals(name))
                .forEach(sample -> labels.addAll(sample.labels().keySet()));
        return labels;
    }

    /** Returns the value of the series with exactly these labels. */
    public double value(String name, Map<String, String> labels) {
        return samples.stream()
                .filter(sample -> sample.name().equals(name) && sample.labels().equals(labels))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no series " + name + labels))
                .value();
    }

    private void comment(String line) {
        Matcher matcher = COMMENT.matcher(line);
        require(matcher.matches(), "comment is neither HELP nor TYPE", line);
        String name = matcher.group(2);
        begin(name, line);
        if (matcher.group(1).equals("HELP")) {
            require(helped.add(name), "second HELP", line);
            return;
        }
        require(TYPES.contains(String.valueOf(matcher.group(3))), "unknown type", line);
        require(samples.stream().noneMatch(sample -> sample.name().equals(name)), "TYPE after a sample", line);
        require(types.put(name, matcher.group(3)) == null, "second TYPE", line);
    }

    private MetricLine sample(String line) {
        Matcher matcher = SAMPLE.matcher(line);
        require(matcher.matches(), "not a sample", line);
        String name = matcher.group(1);
        String metric = metricOf(name);
        require(types.containsKey(metric), "sample without a type", line);
        begin(metric, line);
        double value =
                Double.parseDouble(matcher.group(3).replace("+Inf", "Infinity").replace("-Inf", "-Infinity"));
        require(!"counter".equals(types.get(metric)) || value >= 0, "negative counter", line);
        MetricLine sample = new MetricLine(name, labels(matcher.group(2), line), value);
        samples.add(sample);
        return sample;
    }

    private String metricOf(String name) {
        for (String suffix : SUFFIXES) {
            String metric = name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : name;
            if (Set.of("histogram", "summary").contains(types.getOrDefault(metric, ""))) {
                return metric;
            }
        }
        return name;
    }

    private void begin(String metric, String line) {
        if (!metric.equals(current)) {
            if (current != null) {
                finished.add(current);
            }
            require(!finished.contains(metric), "lines of one metric are not together", line);
            current = metric;
        }
    }

    private static Map<String, String> labels(@Nullable String text, String line) {
        Map<String, String> labels = new HashMap<>();
        String rest = text == null ? "" : text;
        Matcher matcher = LABEL.matcher(rest);
        int end = 0;
        while (end < rest.length()) {
            require(matcher.find(end) && matcher.start() == end, "malformed labels", line);
            require(labels.put(matcher.group(1), unescaped(matcher.group(2))) == null, "label appears twice", line);
            end = matcher.end();
        }
        return labels;
    }

    private static String unescaped(String value) {
        return ESCAPE.matcher(value)
                .replaceAll(escape -> escape.group(1).equals("n") ? "\n" : Matcher.quoteReplacement(escape.group(1)));
    }

    private static void require(boolean condition, String problem, String line) {
        if (!condition) {
            throw new IllegalArgumentException(problem + ": " + line);
        }
    }
}
