package dev.podcache.object;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How recent the result of a single read must be, beyond what the strategy of the cache promises. Immutable. */
public final class ReadConsistency {

    private static final ReadConsistency LATEST = new ReadConsistency(null, null);

    private final @Nullable String version;
    private final @Nullable Duration maxAge;

    private ReadConsistency(@Nullable String version, @Nullable Duration maxAge) {
        this.version = version;
        this.maxAge = maxAge;
    }

    /** The state that the API server had committed when the read began, or a later one: a quorum read. */
    public static ReadConsistency latest() {
        return LATEST;
    }

    /**
     * The state that the object had at {@code resourceVersion}, or a later one. With the version that a write returned,
     * the write itself is seen. A version that no write has returned yet is answered with the latest state.
     *
     * <p>Versions of one resource are compared as numbers, as clients may from Kubernetes 1.35 on
     * (<a href="https://github.com/kubernetes/enhancements/issues/5504">KEP-5504</a>); those of older servers are numbers too.
     *
     * @throws IllegalArgumentException if it is not a number, which versions of Kubernetes are
     */
    public static ReadConsistency atLeast(String resourceVersion) {
        if (ResourceVersions.parse(Objects.requireNonNull(resourceVersion, "resourceVersion"))
                .isEmpty()) {
            throw new IllegalArgumentException("resourceVersion " + Quoted.value(resourceVersion)
                    + " is not a number: give the metadata.resourceVersion that the API server returned");
        }
        return new ReadConsistency(resourceVersion, null);
    }

    /**
     * A state that the API server confirmed at most {@code age} before the read; with the age zero, {@link #latest()}. A
     * connected watch counts as a confirmation at any moment. One whose connection has frozen counts as connected until
     * that is noticed: after up to 20 s over HTTP/2.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public static ReadConsistency maxAge(Duration age) {
        if (Objects.requireNonNull(age, "age").isNegative()) {
            throw new IllegalArgumentException("maxAge must not be negative, but is " + age.toMillis() + " ms");
        }
        return age.isZero() ? LATEST : new ReadConsistency(null, age);
    }

    /**
     * Returns whether a read may be answered from memory.
     *
     * @param known the version in memory; "" if none is
     * @param age the time since the API server confirmed what is in memory; null if it did not
     */
    public boolean isMetBy(String known, @Nullable Duration age) {
        if (version != null) {
            return ResourceVersions.parse(known).isPresent() && !ResourceVersions.isOlder(known, version);
        }
        return maxAge != null && age != null && age.compareTo(maxAge) <= 0;
    }

    /** Returns a text such as {@code latest}, {@code at least version 4711} or {@code at most 5000 ms old}. */
    @Override
    public String toString() {
        return version != null
                ? "at least version " + version
                : maxAge != null ? "at most " + maxAge.toMillis() + " ms old" : "latest";
    }
}
