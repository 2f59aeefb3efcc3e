package dev.podcache.object;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Compares {@code metadata.resourceVersion}s as unsigned 64-bit numbers, which they are in Kubernetes' own storage. A
 * version that is null, empty or not such a number is <em>unknown</em>. An unknown version is neither older nor newer
 * than any other.
 *
 * @hidden
 */
@NotApi
public final class ResourceVersions {

    /** 2^64 - 1 is 18446744073709551615. */
    private static final long MAX_BEFORE_LAST_DIGIT = 1844674407370955161L;

    private ResourceVersions() {}

    /** Returns whether both versions are known and {@code candidate} is the smaller one. */
    public static boolean isOlder(@Nullable String candidate, @Nullable String reference) {
        OptionalLong left = parse(candidate);
        OptionalLong right = parse(reference);
        return left.isPresent() && right.isPresent() && Long.compareUnsigned(left.getAsLong(), right.getAsLong()) < 0;
    }

    /** Returns the version as an unsigned number; empty if it is unknown. */
    public static OptionalLong parse(@Nullable String version) {
        // by hand, because an unparsable version is a normal result here and not an exception
        if (version == null || version.isEmpty() || version.length() > 20) {
            return OptionalLong.empty();
        }
        long value = 0;
        for (int i = 0; i < version.length(); i++) {
            int digit = version.charAt(i) - '0';
            boolean overflows = Long.compareUnsigned(value, MAX_BEFORE_LAST_DIGIT) > 0
                    || (value == MAX_BEFORE_LAST_DIGIT && digit > 5);
            if (digit < 0 || digit > 9 || overflows) {
                return OptionalLong.empty();
            }
            value = value * 10 + digit;
        }
        return OptionalLong.of(value);
    }
}
