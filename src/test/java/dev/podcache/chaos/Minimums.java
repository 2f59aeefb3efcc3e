package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.ArrayList;
import java.util.List;

/** What a run must have tried at least; with less, that no promise was broken says little. */
final class Minimums {

    /*
     * Each is about a third of what the shortest run has on two busy cores. A product that is right, in a run that gets
     * to its end, is never near them.
     */
    private static final int HITS = 300;
    private static final int FRESH = 200;
    private static final int DELETIONS = 4;
    private static final int REFRESHES = 30;
    private static final int SYNCED = 40;

    /** Of the GETs that were answered, the share of which the cache must say so, in percent. */
    private static final int TOLD = 40;

    private static final int OUT_OF = 100;

    private final RunFigures figures;
    private final Violations violations;

    Minimums(RunFigures figures, Violations violations) {
        this.figures = figures;
        this.violations = violations;
    }

    /** Too little of something. */
    private record Shortfall(Shape shape, String detail) {}

    /** Whether there was enough of everything, when every one of these faults was to strike. */
    boolean areMet(List<ChaosFault> faults) {
        return shortfalls(faults).isEmpty();
    }

    /** Complains of what there was too little of, when every one of these faults was to strike. */
    void check(List<ChaosFault> faults) {
        shortfalls(faults).forEach(shortfall -> violations.add(shortfall.shape, shortfall.detail));
    }

    private List<Shortfall> shortfalls(List<ChaosFault> faults) {
        List<Shortfall> found = new ArrayList<>();
        for (ChaosFault fault : faults) {
            require(
                    found,
                    Shape.FAULT_NEVER_STRUCK,
                    "fault " + fault.kind(),
                    figures.total("fault " + fault.kind()),
                    1);
        }
        for (ChangeDetectionStrategy strategy : ChangeDetectionStrategy.values()) {
            require(found, Shape.TOO_FEW_DELETIONS, strategy, "deletion seen by ", DELETIONS);
        }
        for (ChangeDetectionStrategy strategy : List.of(ChangeDetectionStrategy.WATCH, ChangeDetectionStrategy.CACHE)) {
            long reads = figures.total("read " + strategy);
            require(found, Shape.TOO_FEW_HITS, "hits of " + strategy, reads - figures.total("miss " + strategy), HITS);
            require(found, Shape.TOO_FEW_FRESH, strategy, "FRESH answer of ", FRESH);
        }
        require(found, Shape.TOO_FEW_REFRESHES, ChangeDetectionStrategy.CACHE, "refresh sent by ", REFRESHES);
        long answered = figures.total("GET answered CACHE");
        require(
                found,
                Shape.TOO_FEW_SUCCESSES_TOLD,
                "fetches of CACHE told as answered",
                figures.total("request CACHE fetch answered") + figures.total("request CACHE fetch NOT_FOUND"),
                answered * TOLD / OUT_OF);
        require(
                found,
                Shape.TOO_FEW_SUCCESSES_TOLD,
                "watches told as synced",
                figures.total("request WATCH watch synced"),
                SYNCED);
        return found;
    }

    private void require(
            List<Shortfall> found, Shape shape, ChangeDetectionStrategy strategy, String what, long least) {
        require(found, shape, what + strategy, figures.total(what + strategy), least);
    }

    private void require(List<Shortfall> found, Shape shape, String what, long count, long least) {
        if (count < least) {
            found.add(new Shortfall(shape, what + ": " + count + ", not " + least));
        }
    }
}
