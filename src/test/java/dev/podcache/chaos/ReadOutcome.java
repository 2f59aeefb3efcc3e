package dev.podcache.chaos;

/** What a get brought: an object, or a failure. */
sealed interface ReadOutcome {

    /** An object. */
    record FoundObject(String marker, String uid, String resourceVersion) implements ReadOutcome {
        @Override
        public String toString() {
            return marker + " at " + resourceVersion;
        }
    }

    /** An exception. */
    record FailedRead(RuntimeException thrown) implements ReadOutcome {
        /** Its name, and that of what caused it. */
        @Override
        public String toString() {
            Throwable cause = thrown.getCause();
            return thrown.getClass().getSimpleName() + (cause == null ? "" : " (" + cause.getMessage() + ")");
        }
    }
}
