package dev.podcache.concurrency;

/** How much the checkers here may cost, by the system property {@code podcache.effort}. */
final class Effort {

    /** {@code nightly} rather than {@code verify}, the default. */
    static final boolean NIGHTLY = read();

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
