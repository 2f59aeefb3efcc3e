package dev.podcache.embedded;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Longs;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One condition of a selector: {@code key=value}, {@code key==value}, {@code key!=value}, {@code key}, {@code !key},
 * {@code key in (a,b)}, {@code key notin (a,b)}, {@code key>1} or {@code key<1}.
 *
 * @param values the values that are compared; none for a condition of existence
 */
record SelectorTerm(String key, Operator operator, ImmutableList<String> values) {

    private static final Splitter COMMAS = Splitter.on(',').trimResults();
    private static final Pattern SET = Pattern.compile("([^\\s(]+)\\s+(in|notin)\\s*\\(([^()]*)\\)");
    private static final Pattern COMPARISON = Pattern.compile("([^\\s()!=<>]+)\\s*([<>])\\s*(\\d+)");

    enum Operator {
        EQUAL,
        NOT_EQUAL,
        IN,
        NOT_IN,
        GREATER,
        LESS,
        EXISTS,
        MISSING
    }

    /**
     * Parses the comma-separated conditions of a selector.
     *
     * @param parameter the name of the query parameter, for messages
     * @throws StatusException 400 if a condition is malformed
     */
    static ImmutableList<SelectorTerm> parse(String parameter, String selector) {
        ImmutableList.Builder<SelectorTerm> terms = ImmutableList.builder();
        for (String text : conditions(selector)) {
            SelectorTerm term = parseTerm(text);
            if (term.key.isEmpty() || term.key.matches(".*[ !()<>].*")) {
                throw StatusException.badRequest("unable to parse " + parameter + " \"" + selector
                        + "\": this server supports key=value, key!=value, key, !key, key in (a,b), key notin (a,b),"
                        + " key>1 and key<1");
            }
            terms.add(term);
        }
        return terms.build();
    }

    /** Splits a selector at the commas that are not in parentheses. */
    private static List<String> conditions(String selector) {
        List<String> conditions = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= selector.length(); i++) {
            char c = i == selector.length() ? ',' : selector.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && (depth == 0 || i == selector.length())) {
                conditions.add(selector.substring(start, i).strip());
                start = i + 1;
            }
        }
        conditions.removeIf(String::isEmpty);
        return conditions;
    }

    /** Returns whether the condition compares one value for equality, as every condition of a field selector does. */
    boolean comparesOneValue() {
        return operator == Operator.EQUAL || operator == Operator.NOT_EQUAL;
    }

    /** Returns the first value of a condition that has any. */
    String value() {
        return values.get(0);
    }

    private static SelectorTerm parseTerm(String text) {
        Matcher set = SET.matcher(text);
        if (set.matches()) {
            Operator operator = set.group(2).equals("in") ? Operator.IN : Operator.NOT_IN;
            return new SelectorTerm(set.group(1), operator, ImmutableList.copyOf(COMMAS.split(set.group(3))));
        }
        Matcher comparison = COMPARISON.matcher(text);
        if (comparison.matches() && Longs.tryParse(comparison.group(3)) != null) {
            Operator operator = comparison.group(2).equals(">") ? Operator.GREATER : Operator.LESS;
            return new SelectorTerm(comparison.group(1), operator, ImmutableList.of(comparison.group(3)));
        }
        int equals = text.indexOf('=');
        if (equals < 0) {
            return text.startsWith("!")
                    ? new SelectorTerm(text.substring(1).strip(), Operator.MISSING, ImmutableList.of())
                    : new SelectorTerm(text, Operator.EXISTS, ImmutableList.of());
        }
        boolean negated = equals > 0 && text.charAt(equals - 1) == '!';
        boolean doubled = text.startsWith("==", equals);
        String key = text.substring(0, negated ? equals - 1 : equals).strip();
        String value = text.substring(equals + (doubled ? 2 : 1)).strip();
        return new SelectorTerm(key, negated ? Operator.NOT_EQUAL : Operator.EQUAL, ImmutableList.of(value));
    }
}
