package dev.podcache.chaos;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Holds what one thread reads from one cache against the promises below. Not thread-safe: one for each thread. */
final class Checker {

    /*
     * P1   An answer was the server's state at some time after the registration began whose new reference the get came
     *      after. Under WATCH only the first reference counts: others join a watch that may be behind.
     * P2   Within an epoch the answers of one thread go forward in the history. That is more than the resourceVersions
     *      of one uid: NotFound is a point in the history too, and a successor of the same name comes after it.
     * P4   Once seen in its epoch, an object is not answered by any failure but NotFound.
     * P5   What nobody refers to is not served.
     * P6   What is referred to is registered.
     * P8   No get takes longer than it may, but for the time in which the process stood still.
     * P9   What is called fresh is outdated by no more than it may, see Staleness. Immutable objects are exempt: they
     *      are not asked for again.
     * P10  No payload in messages of exceptions and states.
     */

    private final Rules rules;
    private final Function<Subject, History> histories;
    private final Figures figures;
    private final Staleness staleness;
    private final Map<Subject, Place> places = new HashMap<>();
    private final List<Violation> found = new ArrayList<>();

    /** How far in an object's history this thread has come in an epoch. */
    private record Place(Epoch epoch, int index) {}

    Checker(Rules rules, Function<Subject, History> histories, Calm calm, Figures figures) {
        this.rules = rules;
        this.histories = histories;
        this.figures = figures;
        this.staleness = new Staleness(rules, calm, figures);
    }

    /** What is wrong with the next get of this thread. */
    List<Violation> judge(Read read) {
        found.clear();
        checkTime(read);
        complainOfNotNull("P9", read, Staleness.ofState(read));
        if (Canary.isIn(read.before().state().toString())
                || Canary.isIn(read.after().state().toString())) {
            complain("P10", read, "a payload in the state");
        }
        if (read.outcome() instanceof Outcome.Found object) {
            checkObject(read, object);
        } else if (read.outcome() instanceof Outcome.Failed failure) {
            checkFailure(read, failure.thrown());
        }
        return List.copyOf(found);
    }

    private void checkTime(Read read) {
        boolean known = read.isWithinEpoch() && read.before().seen();
        Duration longest = known ? rules.longestKnownGet() : rules.longestGet();
        figures.tookGet(rules.strategy(), known, read.took());
        if (read.took() > longest.toNanos()) {
            complain("P8", read, "took longer than " + longest);
        }
    }

    private void checkObject(Read read, Outcome.Found object) {
        History history = histories.apply(read.subject());
        Version version = history.withMarker(object.marker());
        if (version == null || version.fate() == Version.Fate.REFUSED) {
            complain("P1", read, "this state was never the server's: " + version);
            return;
        }
        long goneBy = history.goneBy(version);
        if (isNobodys(read)) {
            complain("P5", read, "served, although nobody refers to it");
        }
        if (read.before().claim().isHeld()) {
            if (goneBy < epochBegan(read)) {
                complain("P1", read, version + " was gone by " + RunTime.seconds(goneBy) + ", before the registration");
            }
            checkOrder(read, version);
        }
        if (!version.immutable()) {
            complainOfNotNull("P9", read, staleness.ofObject(read, object, goneBy));
        }
    }

    private void checkOrder(Read read, Version version) {
        Place place = placeOf(read);
        if (version.index() < place.index()) {
            complain("P2", read, version + " after #" + place.index());
        } else {
            places.put(read.subject(), new Place(place.epoch(), version.index()));
        }
    }

    private void checkFailure(Read read, RuntimeException thrown) {
        if (Canary.isIn(thrown)) {
            complain("P10", read, "a payload in the message");
        }
        if (!(thrown instanceof ObjectUnavailableException) || thrown instanceof Closed) {
            complain("P4", read, "an exception that is none of an open cache: " + thrown);
        } else if (thrown instanceof NotRegistered) {
            if (read.isWithinEpoch()) {
                complain(
                        "P6",
                        read,
                        "called not registered, but " + read.before().claim().references() + " pods refer to it");
            }
        } else if (isNobodys(read)) {
            complain("P5", read, "asked for, although nobody refers to it");
        } else if (thrown instanceof NotFound) {
            checkAbsence(read);
        } else if (read.isWithinEpoch() && read.before().seen()) {
            complain("P4", read, "a failure, although the object was seen since its last new reference: " + thrown);
        }
    }

    private void checkAbsence(Read read) {
        if (!read.before().claim().isHeld()) {
            return;
        }
        History history = histories.apply(read.subject());
        Place place = placeOf(read);
        long from = epochBegan(read);
        int absence = history.absence(from, read.after().time(), place.index() - 1);
        if (absence < 0) {
            boolean once = history.absence(from, read.after().time(), -1) >= 0;
            complain(
                    once ? "P2" : "P1",
                    read,
                    "was not absent since "
                            + (once ? "#" + place.index() : "the registration at " + RunTime.seconds(from)));
            return;
        }
        places.put(read.subject(), new Place(place.epoch(), absence));
        complainOfNotNull("P9", read, staleness.ofAbsence(read, history.lastAbsenceGoneBy()));
    }

    /** How far this thread has come with the object; at its beginning if it is another epoch. */
    private Place placeOf(Read read) {
        Epoch epoch = read.before().claim().epoch();
        Place place = places.get(read.subject());
        return place == null || place.epoch() != epoch ? new Place(epoch, 0) : place;
    }

    private long epochBegan(Read read) {
        Epoch epoch = read.before().claim().epoch();
        return rules.isWatch() ? epoch.firstBegan : epoch.began;
    }

    /** Whether nobody referred to it from before the get until after it. */
    private static boolean isNobodys(Read read) {
        return read.before().claim().isFree()
                && read.after().claim().isFree()
                && read.before().claim().epoch() == read.after().claim().epoch();
    }

    private void complainOfNotNull(String promise, Read read, @Nullable String what) {
        if (what != null) {
            complain(promise, read, what);
        }
    }

    private void complain(String promise, Read read, String what) {
        found.add(new Violation(promise, read.subject(), rules.strategy() + ": " + what + "; " + read));
    }
}
