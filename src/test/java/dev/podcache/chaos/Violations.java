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
    private final Queue<Finding> findings = new ConcurrentLinkedQueue<>();

    Violations(Journal journal) {
        this.journal = journal;
    }

    void add(List<Violation> violations) {
        for (Violation violation : violations) {
            if (findings.size() < DESCRIBED) {
                findings.add(new Finding(
                        violation.shape(),
                        violation.subject() + ": " + violation.what()
                                + "\n  what went wrong:\n    "
                                + String.join("\n    ", journal.faults())
                                + "\n  what happened to it:\n    "
                                + String.join("\n    ", journal.of(violation.subject()))));
            }
        }
    }

    void add(Shape shape, CachedObject subject, String what) {
        add(List.of(new Violation(shape, subject, what)));
    }

    /** What concerns no object. */
    void add(Shape shape, String what) {
        findings.add(new Finding(shape, what));
    }

    /** An actor of the run itself has failed. */
    void broke(String actor, Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        add(Shape.RUN_FAILED, actor + " failed: " + trace);
    }

    boolean isEmpty() {
        return findings.isEmpty();
    }

    List<Finding> findings() {
        return List.copyOf(findings);
    }
}
