package dev.podcache.kubelet.probe;

/**
 * The outcome of one check. Immutable.
 *
 * @param message the output of the check, for events; may be empty
 */
record ProbeOutcome(Verdict verdict, String message) {

    /** What a check has found out. */
    enum Verdict {
        SUCCESS,
        /** Counts as success, with an event. */
        WARNING,
        FAILURE,
        /** The check could not be run. Does not count. */
        ERROR
    }

    static ProbeOutcome success(String message) {
        return new ProbeOutcome(Verdict.SUCCESS, message);
    }

    static ProbeOutcome warning(String message) {
        return new ProbeOutcome(Verdict.WARNING, message);
    }

    static ProbeOutcome failure(String message) {
        return new ProbeOutcome(Verdict.FAILURE, message);
    }

    static ProbeOutcome error(String message) {
        return new ProbeOutcome(Verdict.ERROR, message);
    }
}
