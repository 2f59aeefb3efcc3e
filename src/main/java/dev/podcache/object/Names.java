package dev.podcache.object;

import java.util.Objects;

/**
 * Checks Kubernetes names, as IsDNS1123Label and IsDNS1123Subdomain of {@code k8s.io/apimachinery/pkg/util/validation}
 * do.
 */
final class Names {

    private static final int MAX_LABEL = 63;
    private static final int MAX_SUBDOMAIN = 253;

    private Names() {}

    static void requireLabel(String what, String value) {
        Objects.requireNonNull(value, () -> what + " is null: give the " + what + " of the object");
        if (!isLabel(value)) {
            throw new IllegalArgumentException(what + " " + Quoted.value(value)
                    + " is not a legal Kubernetes name: at most 63 lower-case letters, digits and '-', beginning and"
                    + " ending with a letter or digit");
        }
    }

    static void requireSubdomain(String what, String value) {
        Objects.requireNonNull(value, () -> what + " is null: give the " + what + " of the object");
        if (!isSubdomain(value)) {
            throw new IllegalArgumentException(what + " " + Quoted.value(value)
                    + " is not a legal Kubernetes name: at most 253 lower-case letters, digits, '-' and '.', each part"
                    + " beginning and ending with a letter or digit");
        }
    }

    static boolean isLabel(String value) {
        return value.length() <= MAX_LABEL && value.indexOf('.') < 0 && isSubdomain(value);
    }

    static boolean isSubdomain(String value) {
        if (value.isEmpty() || value.length() > MAX_SUBDOMAIN) {
            return false;
        }
        char before = '.';
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            boolean alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            boolean joins = c == '-' || c == '.';
            if (!alphanumeric && !joins) {
                return false;
            }
            boolean afterJoin = before == '.' || (before == '-' && c == '.');
            if (joins && afterJoin) {
                return false;
            }
            before = c;
        }
        return before != '-' && before != '.';
    }
}
