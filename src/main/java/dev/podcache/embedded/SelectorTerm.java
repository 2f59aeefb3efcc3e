package dev.podcache.embedded;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;

/**
 * One condition of a selector: {@code key=value}, {@code key==value}, {@code key!=value}, {@code key} or {@code !key}.
 */
record SelectorTerm(String key, Operator operator, String value) {

    private static final Splitter COMMAS = Splitter.on(',').trimResults().omitEmptyStrings();

    enum Operator {
        EQUAL,
        NOT_EQUAL,
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
        for (String text : COMMAS.split(selector)) {
            SelectorTerm term = parseTerm(text);
            if (term.key.isEmpty() || term.key.indexOf(' ') >= 0 || term.key.indexOf('!') >= 0) {
                throw StatusException.badRequest("unable to parse " + parameter + " \"" + selector
                        + "\": this server supports key=value, key!=value, key and !key");
            }
            terms.add(term);
        }
        return terms.build();
    }

    /** Returns whether the condition compares a value, instead of testing for existence. */
    boolean comparesValues() {
        return operator == Operator.EQUAL || operator == Operator.NOT_EQUAL;
    }

    private static SelectorTerm parseTerm(String text) {
        int equals = text.indexOf('=');
        if (equals < 0) {
            return text.startsWith("!")
                    ? new SelectorTerm(text.substring(1).strip(), Operator.MISSING, "")
                    : new SelectorTerm(text, Operator.EXISTS, "");
        }
        boolean negated = equals > 0 && text.charAt(equals - 1) == '!';
        boolean doubled = text.startsWith("==", equals);
        String key = text.substring(0, negated ? equals - 1 : equals).strip();
        String value = text.substring(equals + (doubled ? 2 : 1)).strip();
        return new SelectorTerm(key, negated ? Operator.NOT_EQUAL : Operator.EQUAL, value);
    }
}
