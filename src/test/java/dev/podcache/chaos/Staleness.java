package dev.podcache.chaos;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectState;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * P9: by how much what is read is outdated. It is held to a bound only if the state called that very version fresh
 * before the get and after it; under WATCH an absence counts as well, if the state knows of no failure. And no state is
 * called fresh when the latest attempt failed or the watch is lost, whatever the cache itself believes: that comes from
 * the server, the proxy and the HTTP client.
 */
final class Staleness {

    private final Rules rules;
    private final Calm calm;
    private final RunFigures figures;

    Staleness(Rules rules, Calm calm, RunFigures figures) {
        this.rules = rules;
        this.calm = calm;
        this.figures = figures;
    }

    /** What is wrong, and how. */
    record StaleRead(Shape shape, String what) {}

    /** What is wrong with the state after a get; null if nothing. */
    static @Nullable StaleRead ofState(Read read) {
        ObjectState state = read.after().state();
        return state.cacheState() == CacheState.FRESH && state.lastFailure() != null
                ? new StaleRead(
                        Shape.FRESH_AFTER_FAILURE,
                        "called fresh, although the latest attempt failed: " + state.lastFailure())
                : null;
    }

    /** What is wrong with an object that the server no longer had by then; null if nothing. */
    @Nullable
    StaleRead ofObject(Read read, ReadOutcome.FoundObject object, long goneBy) {
        if (isFresh(read.before(), object) && isFresh(read.after(), object)) {
            figures.count("FRESH answer of " + rules.strategy());
            StaleRead lost = ofContact(read);
            return lost == null ? ofAge(read, goneBy) : lost;
        }
        figures.notFresh(
                rules.strategy(),
                read.before().state().cacheState(),
                read.before().time() - goneBy);
        return null;
    }

    /** The same of an absence. */
    @Nullable
    StaleRead ofAbsence(Read read, long goneBy) {
        boolean watched = rules.isWatch() && isWatchedAbsence(read.before()) && isWatchedAbsence(read.after());
        return watched ? ofAge(read, goneBy) : null;
    }

    private @Nullable StaleRead ofContact(Read read) {
        Contact contact = read.contact();
        if (rules.isWatch() && contact.lostFor() > Rules.LOSS_SEEN_WITHIN.toNanos()) {
            return new StaleRead(
                    Shape.FRESH_WITHOUT_WATCH,
                    "called fresh, although it has no watch since " + RunTime.seconds(contact.lostFor()));
        }
        if (rules.isCache() && contact.failedFor() > Rules.FAILURE_SEEN_WITHIN.toNanos()) {
            return new StaleRead(
                    Shape.FRESH_AFTER_FAILURE,
                    "called fresh, although the latest attempt failed " + RunTime.seconds(contact.failedFor())
                            + " ago");
        }
        return null;
    }

    private @Nullable StaleRead ofAge(Read read, long goneBy) {
        long now = read.before().time();
        long fromChange = now - goneBy - read.stalledBefore();
        if (calm.isServerBehind(now)) {
            figures.freshWhileServerBehind(rules.strategy(), fromChange);
            return null;
        }
        figures.fresh(rules.strategy(), fromChange);
        if (fromChange > rules.freshFromChange().toNanos()) {
            return outdated(Shape.OUTDATED, fromChange, rules.freshFromChange(), "");
        }
        long inCalm = Math.min(fromChange, calm.lengthAt(now) - read.stalledBefore());
        return inCalm > rules.freshInCalm().toNanos()
                ? outdated(Shape.OUTDATED_IN_CALM, fromChange, rules.freshInCalm(), ", in calm")
                : null;
    }

    private static StaleRead outdated(Shape shape, long by, Duration bound, String since) {
        return new StaleRead(
                shape, "called fresh, but outdated for " + RunTime.seconds(by) + since + ", of " + bound + " allowed");
    }

    private static boolean isFresh(Read.Moment moment, ReadOutcome.FoundObject object) {
        return moment.state().cacheState() == CacheState.FRESH
                && moment.state().resourceVersion().equals(object.resourceVersion());
    }

    private static boolean isWatchedAbsence(Read.Moment moment) {
        return moment.state().cacheState() == CacheState.ABSENT
                && moment.state().lastFailure() == null;
    }
}
