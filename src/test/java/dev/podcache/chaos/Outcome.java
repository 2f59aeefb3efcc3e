package dev.podcache.chaos;

/** What a get brought: an object, or a failure. */
sealed interface Outcome {

    /** An object. */
    record Found(String marker, String uid, String resourceVersion) implements Outcome {
        @Override
        public String toString() {
            return marker + " at " + resourceVersion;
        }
    }

    /** An exception. */
    record Failed(RuntimeException thrown) implements Outcome {
        /** Its name, and that of what caused it. */
        @Override
        public String toString() {
            Throwable cause = thrown.getCause();
            return thrown.getClass().getSimpleName() + (cause == null ? "" : " (" + cause.getMessage() + ")");
        }
    }
}
