package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Longs;

/**
 * A label selector with conditions for equality, inequality (which a missing label satisfies), sets of values, the order of
 * numbers (which a label that is no number does not satisfy), existence and absence.
 */
record LabelSelector(ImmutableList<SelectorTerm> terms) {

    static final LabelSelector NONE = new LabelSelector(ImmutableList.of());

    /**
     * Parses a label selector; an empty text has no conditions.
     *
     * @throws StatusException 400 if the selector is malformed
     */
    static LabelSelector parse(String selector) {
        return new LabelSelector(SelectorTerm.parse("labelSelector", selector));
    }

    /** Returns whether {@code labels} meet all conditions. */
    boolean matches(JsonNode labels) {
        for (SelectorTerm term : terms) {
            JsonNode value = labels.path(term.key());
            boolean matches = switch (term.operator()) {
                case EQUAL -> value.isTextual() && value.asText().equals(term.value());
                case NOT_EQUAL -> !value.asText("").equals(term.value()) || value.isMissingNode();
                case IN -> value.isTextual() && term.values().contains(value.asText());
                case NOT_IN -> value.isMissingNode() || !term.values().contains(value.asText());
                case GREATER -> isInOrder(term.value(), value.asText());
                case LESS -> isInOrder(value.asText(), term.value());
                case EXISTS -> !value.isMissingNode();
                case MISSING -> value.isMissingNode();
            };
            if (!matches) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether both texts are numbers, and the first is less than the second. */
    private static boolean isInOrder(String less, String greater) {
        Long first = Longs.tryParse(less);
        Long second = Longs.tryParse(greater);
        return first != null && second != null && first < second;
    }
}
