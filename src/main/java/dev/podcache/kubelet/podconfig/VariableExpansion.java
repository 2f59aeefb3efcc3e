package dev.podcache.kubelet.podconfig;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Expands {@code $(NAME)} to the value of the variable {@code NAME}. {@code $$} becomes one dollar sign. References to
 * unknown variables, and dollar signs before any other character, stay unchanged. Inserted values are not expanded.
 *
 * <p>Follows {@code third_party/forked/golang/expansion} of Kubernetes.
 */
final class VariableExpansion {

    private VariableExpansion() {}

    /**
     * Expands {@code text}, in linear time.
     *
     * @param values returns the value of a variable, or null if it is unknown
     */
    static String expand(String text, Function<String, @Nullable String> values) {
        // no "$(" after the last ")" can end; searching for its end would take quadratic time
        int lastClose = text.lastIndexOf(')');
        StringBuilder expanded = new StringBuilder(text.length());
        int copied = 0;
        int dollar = text.indexOf('$');
        while (dollar >= 0 && dollar + 1 < text.length()) {
            char next = text.charAt(dollar + 1);
            int after = dollar + 2;
            if (next == '$') {
                expanded.append(text, copied, dollar + 1);
                copied = after;
            } else if (next == '(' && dollar < lastClose) {
                after = text.indexOf(')', dollar) + 1;
                String value = values.apply(text.substring(dollar + 2, after - 1));
                expanded.append(text, copied, dollar).append(value == null ? text.substring(dollar, after) : value);
                copied = after;
            }
            dollar = text.indexOf('$', after);
        }
        return expanded.append(text, copied, text.length()).toString();
    }
}
