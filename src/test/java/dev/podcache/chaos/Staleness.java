package dev.podcache.chaos;

import dev.podcache.object.Phase;
import dev.podcache.store.ObjectState;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * P9: by how much what is read is outdated. It is held to a bound only if the state called that very version fresh
 * before the get and after it; under WATCH an absence counts as well, if the state knows of no failure. And no state is
 * called fresh that knows that the latest attempt failed.
 */
final class Staleness {

    /*
     * A watch that was lost is resumed where it was lost. The state says STALE until the new one is accepted; then it
     * says FRESH, and all that has happened meanwhile is news that is under way, on a connection that has its deadline
     * like any other. So what counts is since when the object is outdated without the state having said so.
     */

    private final Rules rules;
    private final Calm calm;
    private final Figures figures;

    Staleness(Rules rules, Calm calm, Figures figures) {
        this.rules = rules;
        this.calm = calm;
        this.figures = figures;
    }

    /** What is wrong with the state after a get; null if nothing. */
    static @Nullable String ofState(Read read) {
        ObjectState state = read.after().state();
        return state.phase() == Phase.FRESH && state.lastFailure() != null
                ? "called fresh, although the latest attempt failed: " + state.lastFailure()
                : null;
    }

    /** What is wrong with an object that the server no longer had by then; null if nothing. */
    @Nullable
    String ofObject(Read read, Outcome.Found object, long goneBy) {
        if (isFresh(read.before(), object) && isFresh(read.after(), object)) {
            return complaint(read, goneBy);
        }
        figures.notFresh(
                rules.strategy(), read.before().state().phase(), read.before().time() - goneBy);
        return null;
    }

    /** The same of an absence. */
    @Nullable
    String ofAbsence(Read read, long goneBy) {
        boolean watched = rules.isWatch() && isWatchedAbsence(read.before()) && isWatchedAbsence(read.after());
        return watched ? complaint(read, goneBy) : null;
    }

    private @Nullable String complaint(Read read, long goneBy) {
        long outdated = read.before().time() - Math.max(goneBy, read.watchedSince());
        figures.fresh(rules.strategy(), outdated);
        if (goneBy < read.watchedSince()) {
            figures.freshAgain(rules.strategy(), read.before().time() - goneBy);
        }
        boolean isCalm = calm.lengthAt(read.before().time()) > rules.calmAfter().toNanos();
        Duration bound = isCalm ? rules.freshInCalm() : rules.freshWithin();
        if (outdated <= bound.toNanos()) {
            return null;
        }
        return "called fresh, but outdated since " + RunTime.seconds(outdated) + (isCalm ? ", in calm" : "");
    }

    private static boolean isFresh(Read.Moment moment, Outcome.Found object) {
        return moment.state().phase() == Phase.FRESH
                && moment.state().resourceVersion().equals(object.resourceVersion());
    }

    private static boolean isWatchedAbsence(Read.Moment moment) {
        return moment.state().phase() == Phase.ABSENT && moment.state().lastFailure() == null;
    }
}
