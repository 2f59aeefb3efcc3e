package dev.podcache.kubelet.agent;

import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of metrics and labels in a PromQL expression of the simple kind that our files have. */
record PromqlNames(Set<String> metrics, Set<String> labels) {

    private static final Pattern SELECTOR = Pattern.compile("\\{([^}]*)}");
    private static final Pattern MATCHER = Pattern.compile("([a-z_]+)\\s*(?:=~|!~|!=|=)\\s*\"[^\"]*\"");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|without)\\s*\\(([^)]*)\\)");
    private static final Pattern VALUES = Pattern.compile("label_values\\(([^,]+),([^)]+)\\)");
    private static final Pattern RANGE = Pattern.compile("\\[\\d+[smhd]]");
    private static final Pattern WORD = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");
    private static final Set<String> WORDS = Set.of("sum", "rate", "increase", "max", "and", "or", "unless");

    static PromqlNames of(String expression) {
        Set<String> labels = new TreeSet<>();
        String rest = expression;
        Matcher values = VALUES.matcher(rest);
        if (values.matches()) {
            labels.add(values.group(2).strip());
            rest = values.group(1);
        }
        SELECTOR.matcher(rest)
                .results()
                .forEach(selector ->
                        MATCHER.matcher(selector.group(1)).results().forEach(matcher -> labels.add(matcher.group(1))));
        rest = SELECTOR.matcher(rest).replaceAll(" ");
        GROUPING.matcher(rest)
                .results()
                .forEach(grouping ->
                        WORD.matcher(grouping.group(1)).results().forEach(label -> labels.add(label.group())));
        rest = RANGE.matcher(GROUPING.matcher(rest).replaceAll(" ")).replaceAll(" ");
        Set<String> metrics = new TreeSet<>();
        WORD.matcher(rest)
                .results()
                .map(word -> word.group())
                .filter(word -> !WORDS.contains(word))
                .forEach(metrics::add);
        return new PromqlNames(metrics, labels);
    }
}
