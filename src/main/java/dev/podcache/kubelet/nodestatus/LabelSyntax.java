package dev.podcache.kubelet.nodestatus;

import dev.podcache.object.Quoted;
import java.util.regex.Pattern;

/** Checks keys and values of labels and taints by the rules of Kubernetes. */
final class LabelSyntax {

    // After k8s.io/apimachinery/pkg/util/validation: IsQualifiedName, IsValidLabelValue, IsDNS1123Subdomain.

    private static final int MAX_PART = 63;
    private static final int MAX_PREFIX = 253;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?");
    private static final Pattern SUBDOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

    private LabelSyntax() {}

    static void requireKey(String what, String key) {
        int slash = key.indexOf('/');
        String name = key.substring(slash + 1);
        if (slash >= 0 && !isSubdomain(key.substring(0, slash))) {
            throw illegal(
                    what,
                    key,
                    "the part before the '/' must be a DNS name such as example.com, of at most 253 letters");
        }
        if (name.length() > MAX_PART || !NAME.matcher(name).matches()) {
            throw illegal(
                    what,
                    key,
                    "the name, after an optional DNS name and a '/', must be at most 63 letters, digits, '-', '_' and"
                            + " '.', and begin and end with a letter or digit");
        }
    }

    static void requireValue(String what, String value) {
        if (!value.isEmpty()
                && (value.length() > MAX_PART || !NAME.matcher(value).matches())) {
            throw illegal(
                    what,
                    value,
                    "it must be empty, or at most 63 letters, digits, '-', '_' and '.', and begin and end with a"
                            + " letter or digit");
        }
    }

    static void requireSubdomain(String what, String value) {
        if (!isSubdomain(value)) {
            throw illegal(
                    what,
                    value,
                    "it must be at most 253 lower-case letters, digits, '-' and '.', and each part must begin and end"
                            + " with a letter or digit");
        }
    }

    private static boolean isSubdomain(String value) {
        return value.length() <= MAX_PREFIX && SUBDOMAIN.matcher(value).matches();
    }

    private static IllegalArgumentException illegal(String what, String value, String rule) {
        return new IllegalArgumentException(what + " " + Quoted.value(value) + " is not legal: " + rule);
    }
}
