package dev.podcache.chaos;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What went wrong in a run, with what had happened to the object until then. Thread-safe. */
final class Violations {

    private static final int DESCRIBED = 5;

    private final Journal journal;
    private final Queue<String> described = new ConcurrentLinkedQueue<>();

    Violations(Journal journal) {
        this.journal = journal;
    }

    void add(List<Violation> violations) {
        for (Violation violation : violations) {
            if (described.size() < DESCRIBED) {
                described.add(violation.promise() + " of " + violation.subject() + " is broken: " + violation.what()
                        + "\n  what went wrong:\n    "
                        + String.join("\n    ", journal.faults())
                        + "\n  what happened to it:\n    "
                        + String.join("\n    ", journal.of(violation.subject())));
            }
        }
    }

    void add(String promise, Subject subject, String what) {
        add(List.of(new Violation(promise, subject, what)));
    }

    /** What concerns no object. */
    void add(String what) {
        described.add(what);
    }

    /** An actor of the run itself has failed. */
    void broke(String actor, Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        described.add(actor + " failed: " + trace);
    }

    boolean isEmpty() {
        return described.isEmpty();
    }

    List<String> described() {
        return List.copyOf(described);
    }
}
