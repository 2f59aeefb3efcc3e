package dev.podcache.kubelet.server;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * One check of {@code /livez} or {@code /readyz}. Immutable.
 *
 * @param name shown to everybody, so it must contain nothing secret; lower-case letters, digits and hyphens
 * @param problem returns why the check fails; empty if it passes. Called for each request, by several threads; may take
 *     locks, but must not wait for the network. An exception is a failure. The text is shown only to clients who are
 *     allowed to see details
 */
public record HealthCheck(String name, Supplier<Optional<String>> problem) {

    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");

    /** Passes while the process answers. */
    static final HealthCheck PING = new HealthCheck("ping", Optional::empty);

    /** @throws IllegalArgumentException if the name has other characters */
    public HealthCheck {
        Objects.requireNonNull(problem, "problem");
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the name of a check must be of lower-case letters, digits and hyphens, but is \"" + name + "\"");
        }
    }
}
