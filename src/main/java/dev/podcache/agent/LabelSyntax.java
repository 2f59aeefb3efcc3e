package dev.podcache.agent;

import java.util.regex.Pattern;

/** What the API server accepts as the key and the value of a label or a taint. */
final class LabelSyntax {

    static final String KEYS =
            "a name of at most 63 letters, digits, '-', '_' and '.', with a domain and '/' before it or not";
    static final String VALUES =
            "empty, or at most 63 letters, digits, '-', '_' and '.', the first and last a letter or digit";

    private static final int LONGEST_DOMAIN = 253;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final Pattern DOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

    private LabelSyntax() {}

    static boolean isKey(String text) {
        int slash = text.indexOf('/');
        return NAME.matcher(text.substring(slash + 1)).matches() && (slash < 0 || isDomain(text.substring(0, slash)));
    }

    static boolean isValue(String text) {
        return text.isEmpty() || NAME.matcher(text).matches();
    }

    private static boolean isDomain(String text) {
        return text.length() <= LONGEST_DOMAIN && DOMAIN.matcher(text).matches();
    }
}
