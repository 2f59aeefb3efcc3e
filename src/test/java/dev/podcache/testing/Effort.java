package dev.podcache.testing;

/** How much time tests may take that have a long version, by the system property {@code podcache.effort}. */
public final class Effort {

    /** {@code nightly} rather than {@code verify}, the default. */
    public static final boolean NIGHTLY = read();

    private Effort() {}

    private static boolean read() {
        String effort = System.getProperty("podcache.effort", "verify");
        return switch (effort) {
            case "nightly" -> true;
            case "verify", "" -> false;
            default ->
                throw new IllegalArgumentException("podcache.effort is " + effort + ": it must be verify or nightly");
        };
    }
}
