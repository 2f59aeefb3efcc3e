package dev.podcache.testing;

/** The effort of tests with a long version, from the system property {@code podcache.effort}. */
public final class Effort {

    /** Whether the effort is {@code nightly}; otherwise, it is {@code verify}, the default. */
    public static final boolean NIGHTLY = read();

    private Effort() {}

    private static boolean read() {
        String effort = System.getProperty("podcache.effort", "verify");
        return switch (effort) {
            case "nightly" -> true;
            case "verify", "" -> false;
            default ->
                throw new IllegalArgumentException("podcache.effort must be verify or nightly, but is " + effort);
        };
    }
}
