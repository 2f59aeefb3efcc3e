package dev.podcache.object;

import com.google.common.base.Splitter;
import java.util.Objects;

/**
 * Checks Kubernetes names, as IsDNS1123Label and IsDNS1123Subdomain of {@code k8s.io/apimachinery/pkg/util/validation}
 * do. Pure functions.
 *
 * @hidden
 */
@NotApi
public final class Names {

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

    /** Names of RBAC and of trust bundles, such as {@code example.com:signer:v1}, are subdomains that colons join. */
    static void requireSubdomains(String what, String value) {
        Objects.requireNonNull(value, () -> what + " is null: give the " + what + " of the object");
        if (!isSubdomains(value)) {
            // the message says what is usual
            requireSubdomain(what, value);
        }
    }

    static boolean isSubdomains(String value) {
        return value.length() <= MAX_SUBDOMAIN
                && Splitter.on(':').splitToStream(value).allMatch(Names::isSubdomain);
    }

    /** Returns whether {@code value} is a label: one part of the name of a machine. */
    public static boolean isLabel(String value) {
        return value.length() <= MAX_LABEL && value.indexOf('.') < 0 && isSubdomain(value);
    }

    /** Returns whether {@code value} is a subdomain: labels with dots between them, in all at most 253 characters. */
    public static boolean isSubdomain(String value) {
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
