package dev.podcache.chaos;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Holds what one thread reads from one cache against the promises below. Not thread-safe: one for each thread. */
final class Checker {

    /*
     * P1   An answer was the server's state at some time after the registration began whose new reference the get came
     *      after. Under WATCH only the first reference counts: others join a watch that may be behind. Under GET, after
     *      the get began.
     * P2   Within an epoch the answers of all threads go forward in the history, see Order. That is more than the
     *      resourceVersions of one uid: NotFound is a point in the history too, and a successor of the same name comes
     *      after it.
     * P4   Once seen in its epoch, an object is not answered by any failure but NotFound.
     * P5   What nobody refers to is not served.
     * P6   What is referred to is registered.
     * P8   No get takes longer than it may, but for the time in which the process stood still.
     * P9   What is called fresh is outdated by no more than it may, see Staleness. Immutable objects are exempt: they
     *      are not asked for again.
     * P10  No payload in messages of exceptions and states.
     */

    /** That of strategy GET, which knows no references. */
    private static final Epoch ALL_ALONG = new Epoch(0, 0);

    private final Rules rules;
    private final Function<CachedObject, History> histories;
    private final RunFigures figures;
    private final Staleness staleness;
    private final Order order;
    private final List<Violation> found = new ArrayList<>();

    /** One of several of a cache, whose answers have one order. */
    Checker(Rules rules, Function<CachedObject, History> histories, Calm calm, RunFigures figures, Order order) {
        this.rules = rules;
        this.histories = histories;
        this.figures = figures;
        this.staleness = new Staleness(rules, calm, figures);
        this.order = order;
    }

    /** What is wrong with the next get of this thread. */
    List<Violation> judge(Read read) {
        found.clear();
        checkTime(read);
        if (ChaosCanary.isIn(read.before().state().toString())
                || ChaosCanary.isIn(read.after().state().toString())) {
            complain(Shape.PAYLOAD_IN_STATE, read, "a payload in the state");
        }
        if (read.outcome() instanceof ReadOutcome.FailedRead failure && ChaosCanary.isIn(failure.thrown())) {
            complain(Shape.PAYLOAD_IN_MESSAGE, read, "a payload in the message");
        }
        if (!read.replaced()) {
            checkOutcome(read);
        }
        return List.copyOf(found);
    }

    private void checkOutcome(Read read) {
        complainOfNotNull(read, Staleness.ofState(read));
        if (read.outcome() instanceof ReadOutcome.FoundObject object) {
            checkObject(read, object);
        } else if (read.outcome() instanceof ReadOutcome.FailedRead failure) {
            checkFailure(read, failure.thrown());
        }
    }

    private void checkTime(Read read) {
        boolean known = read.isWithinEpoch() && read.before().seen();
        Duration longest = known ? rules.longestKnownGet() : rules.longestGet();
        figures.tookGet(rules.strategy(), known, read.took());
        if (read.took() > longest.toNanos()) {
            complain(Shape.TOOK_TOO_LONG, read, "took longer than " + longest);
        }
    }

    private void checkObject(Read read, ReadOutcome.FoundObject object) {
        History history = histories.apply(read.subject());
        Version version = history.withMarker(object.marker());
        if (version == null || version.result() == Version.WriteResult.REFUSED) {
            complain(Shape.NEVER_WRITTEN, read, "this state was never the server's: " + version);
            return;
        }
        long goneBy = history.goneBy(version);
        if (isNobodys(read)) {
            complain(Shape.SERVED_UNREFERENCED, read, "served, although nobody refers to it");
        }
        if (isOfAnEpoch(read)) {
            if (goneBy < epochBegan(read)) {
                complain(
                        Shape.GONE_BEFORE,
                        read,
                        version + " was gone by " + RunTime.seconds(goneBy) + ", before "
                                + RunTime.seconds(epochBegan(read)));
            }
            checkOrder(read, version);
        }
        if (!version.immutable() && !rules.isGet()) {
            complainOfNotNull(read, staleness.ofObject(read, object, goneBy));
        }
    }

    private void checkOrder(Read read, Version version) {
        int floor = order.floor(read.subject(), epoch(read), read.before().time());
        if (version.index() < floor) {
            complain(Shape.WENT_BACK, read, version + " after #" + floor);
        } else {
            takeDown(read, version.index());
        }
    }

    private void takeDown(Read read, int index) {
        int later = order.add(
                read.subject(), epoch(read), read.before().time(), read.after().time(), index);
        if (later < index) {
            complain(Shape.WENT_BACK, read, "#" + later + " was the answer to a get that began after this one");
        }
    }

    private void checkFailure(Read read, RuntimeException thrown) {
        if (!(thrown instanceof ObjectUnavailableException) || thrown instanceof Closed) {
            complain(Shape.FOREIGN_EXCEPTION, read, "an exception that is none of an open cache: " + thrown);
        } else if (thrown instanceof NotRegistered) {
            if (read.isWithinEpoch() || rules.isGet()) {
                complain(
                        Shape.NOT_REGISTERED,
                        read,
                        "called not registered, but " + read.before().claim().references() + " pods refer to it");
            }
        } else if (isNobodys(read)) {
            complain(Shape.SERVED_UNREFERENCED, read, "asked for, although nobody refers to it");
        } else if (thrown instanceof NotFound) {
            checkAbsence(read);
        } else if (read.isWithinEpoch() && read.before().seen() && !rules.isGet()) {
            complain(
                    Shape.FAILED_ALTHOUGH_SEEN,
                    read,
                    "a failure, although the object was seen since its last new reference: " + thrown);
        }
    }

    private void checkAbsence(Read read) {
        if (!isOfAnEpoch(read)) {
            return;
        }
        History history = histories.apply(read.subject());
        int floor = order.floor(read.subject(), epoch(read), read.before().time());
        long from = epochBegan(read);
        int absence = history.absence(from, read.after().time(), floor - 1);
        if (absence < 0) {
            boolean once = history.absence(from, read.after().time(), -1) >= 0;
            complain(
                    once ? Shape.WENT_BACK : Shape.NEVER_ABSENT,
                    read,
                    "was not absent since " + (once ? "#" + floor : "the registration at " + RunTime.seconds(from)));
            return;
        }
        takeDown(read, absence);
        complainOfNotNull(read, staleness.ofAbsence(read, history.lastAbsenceGoneBy()));
    }

    private boolean isOfAnEpoch(Read read) {
        return rules.isGet() || read.before().claim().isHeld();
    }

    private Epoch epoch(Read read) {
        return rules.isGet() ? ALL_ALONG : read.before().claim().epoch();
    }

    private long epochBegan(Read read) {
        if (rules.isGet()) {
            return read.before().time();
        }
        Epoch epoch = epoch(read);
        return rules.isWatch() ? epoch.firstBegan : epoch.began;
    }

    /** Whether nobody referred to it from before the get until after it, which matters. */
    private boolean isNobodys(Read read) {
        return !rules.isGet()
                && read.before().claim().isFree()
                && read.after().claim().isFree()
                && read.before().claim().epoch() == read.after().claim().epoch();
    }

    private void complainOfNotNull(Read read, Staleness.@Nullable StaleRead complaint) {
        if (complaint != null) {
            complain(complaint.shape(), read, complaint.what());
        }
    }

    private void complain(Shape shape, Read read, String what) {
        found.add(new Violation(shape, read.subject(), rules.strategy() + ": " + what + "; " + read));
    }
}
