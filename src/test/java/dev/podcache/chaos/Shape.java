package dev.podcache.chaos;

import java.util.Locale;

/**
 * What a finding looks like, and which promise it breaks. The names are stable: Mutants.md names them, and a program
 * compares them.
 */
enum Shape {
    GONE_BEFORE("P1"),
    NEVER_WRITTEN("P1"),
    NEVER_ABSENT("P1"),
    WENT_BACK("P2"),
    REFRESHED_TOO_SOON("P3"),
    RETRIED_TOO_SOON("P3"),
    FETCHED_AT_ONCE("P3"),
    TOO_MANY_REQUESTS("P3"),
    WATCHED_TWICE("P3"),
    FAILED_ALTHOUGH_SEEN("P4"),
    FOREIGN_EXCEPTION("P4"),
    SERVED_UNREFERENCED("P5"),
    HELD_UNREFERENCED("P5"),
    REACHABLE("P5"),
    LEFT_OPEN("P5"),
    NOT_REGISTERED("P6"),
    MISCOUNTED("P6"),
    NOT_CONVERGED("P7"),
    TOOK_TOO_LONG("P8"),
    FRESH_WITHOUT_WATCH("P9"),
    FRESH_AFTER_FAILURE("P9"),
    OUTDATED("P9"),
    OUTDATED_IN_CALM("P9"),
    PAYLOAD_IN_MESSAGE("P10"),
    PAYLOAD_IN_STATE("P10"),
    PAYLOAD_IN_LOG("P10"),
    /** The run did not try what it is for. */
    TOO_FEW_HITS("RUN"),
    TOO_FEW_FRESH("RUN"),
    TOO_FEW_REFRESHES("RUN"),
    TOO_FEW_SUCCESSES_TOLD("RUN"),
    TOO_FEW_DELETIONS("RUN"),
    FAULT_NEVER_STRUCK("RUN"),
    /** The run itself is broken. */
    RUN_FAILED("RUN");

    private final String promise;

    Shape(String promise) {
        this.promise = promise;
    }

    /** As it is printed and listed, such as {@code P2 went-back}. */
    String id() {
        return promise + " " + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
