package dev.podcache.kubelet.podconfig;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Replaces {@code $(NAME)} by values. {@code $$} stands for one dollar sign; names that are not known, and whatever
 * else follows a dollar sign, stay as they are. What was put in is not looked at again.
 *
 * <p>Follows {@code third_party/forked/golang/expansion} of Kubernetes.
 */
final class VariableExpansion {

    private VariableExpansion() {}

    /**
     * Expands {@code text}, in time linear to its length.
     *
     * @param values null for a name that is not known
     */
    static String expand(String text, Function<String, @Nullable String> values) {
        // beyond the last ")" no "$(" can end, so none is searched for
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
