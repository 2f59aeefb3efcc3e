package dev.podcache.chaos;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** What begins every payload, so that it is found wherever a payload should not be. */
final class ChaosCanary {

    /** A multiple of three characters long, so that what begins with it has the same beginning in base64. */
    static final String TEXT = "chaos-canary-9e07ab44c";

    private static final String ENCODED =
            Base64.getEncoder().encodeToString(TEXT.substring(0, 21).getBytes(StandardCharsets.US_ASCII));

    private ChaosCanary() {}

    static boolean isIn(String text) {
        return text.contains(TEXT) || text.contains(ENCODED);
    }

    /** Whether it is in what the exception, or one that caused it, says. */
    static boolean isIn(Throwable thrown) {
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (isIn(t.toString())) {
                return true;
            }
        }
        return false;
    }
}
