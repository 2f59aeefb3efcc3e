package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Which fault strikes when: each of a deck that was shuffled as the seed says, then each of another. A few of them make
 * a round, and after each round there is calm. In a short run a fault strikes while the one before it, of another layer,
 * lasts a moment more; in a long one, now and then two last together. One thread.
 */
final class FaultSchedule {

    /** So many faults make a round of a short run. */
    private static final int OF_A_ROUND = 4;

    /** So many milliseconds a fault of a short run begins before the one of another layer before it ends. */
    private static final int OVERLAP = 100;

    /** What faults of a short run last at most, if they can be so short. */
    private static final int LONGEST_IN_SHORT = 450;

    /** One fault in so many of a long run does not stay alone. */
    private static final int OVERLAP_ONCE_IN = 3;

    private static final int SHORTEST_GAP = 100;
    private static final int LONGEST_GAP = 2_000;

    private final World world;
    private final List<Fault> faults;
    private final SplittableRandom random;
    private final boolean lengthy;
    private final Between between;
    private final List<Fault> ahead = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final Map<Fault, Fault.Mend> struck = new LinkedHashMap<>();
    private long roundBegan;

    private long firstRoundBegan = -1; // negative: none has
    private volatile boolean dealt;

    /** What is to happen so many milliseconds after the first fault of the round. */
    private record Event(int at, Fault.Action action) {}

    /** What comes after each round. */
    @FunctionalInterface
    interface Between {
        /** Lets calm pass, at most for so long. */
        void pass(Duration longest) throws Exception;
    }

    /**
     * Of these faults.
     *
     * @param lengthy whether there is time for faults as long as they can be
     */
    FaultSchedule(World world, List<Fault> faults, SplittableRandom random, boolean lengthy, Between between) {
        this.world = world;
        this.faults = faults;
        this.random = random;
        this.lengthy = lengthy;
        this.between = between;
    }

    /** Whether every fault has struck, and the calm after the last is over. For any thread. */
    boolean isDealt() {
        return dealt;
    }

    Duration step() throws Exception {
        if (events.isEmpty()) {
            plan();
        }
        Event event = events.remove(0);
        event.action().run();
        if (events.isEmpty()) {
            calm();
            return Duration.ofMillis(lengthy ? random.nextInt(SHORTEST_GAP, LONGEST_GAP) : SHORTEST_GAP);
        }
        long due = roundBegan + Duration.ofMillis(events.get(0).at()).toNanos();
        return Duration.ofNanos(Math.max(0, due - world.time.now()));
    }

    private void calm() throws Exception {
        long now = world.time.now();
        long behind = Math.max(0, -world.calm.lengthAt(now));
        Duration trouble = Duration.ofNanos(now - firstRoundBegan);
        between.pass(Rules.convergesAfter(trouble).plusNanos(behind));
        dealt |= ahead.isEmpty();
    }

    private void plan() {
        if (ahead.isEmpty()) {
            ahead.addAll(faults);
            Collections.shuffle(ahead, new Random(random.nextLong()));
        }
        if (lengthy) {
            planOneOrTwo();
        } else {
            planRound();
        }
        events.sort(Comparator.comparingInt(Event::at));
        roundBegan = world.time.now();
        if (firstRoundBegan < 0) {
            firstRoundBegan = roundBegan;
        }
    }

    /** One after the other, each of another layer than the one before it, as long as there are such. */
    private void planRound() {
        Fault before = null;
        int ends = 0;
        for (int i = 0; i < OF_A_ROUND && !ahead.isEmpty(); i++) {
            Fault next = nextAfter(before);
            // one that encloses another cannot end while the other lasts
            boolean overlaps = before != null
                    && before.layer() != next.layer()
                    && !next.encloses(before)
                    && !before.encloses(next);
            int begins = before == null ? 0 : overlaps ? ends - OVERLAP : ends;
            ends = begins + lasting(next);
            plan(next, begins, ends);
            before = next;
        }
    }

    private Fault nextAfter(@Nullable Fault before) {
        for (Fault candidate : ahead) {
            if (before != null && candidate.layer() != before.layer()) {
                ahead.remove(candidate);
                return candidate;
            }
        }
        return ahead.remove(0);
    }

    private void planOneOrTwo() {
        Fault next = ahead.remove(0);
        List<Fault> others =
                ahead.stream().filter(fault -> fault.layer() != next.layer()).toList();
        if (others.isEmpty() || random.nextInt(OVERLAP_ONCE_IN) != 0) {
            plan(next, 0, lasting(next));
            return;
        }
        Fault other = others.get(0);
        ahead.remove(other);
        if (other.encloses(next)) {
            planBoth(other, next);
        } else {
            planBoth(next, other);
        }
    }

    private void planBoth(Fault first, Fault second) {
        int firstEnds = lasting(first);
        int secondBegins = random.nextInt(1, firstEnds);
        int secondEnds = secondBegins + lasting(second);
        // the second comes before the first: if both end at once, that is the order
        plan(second, secondBegins, secondEnds);
        plan(first, 0, first.encloses(second) ? Math.max(firstEnds, secondEnds) : firstEnds);
    }

    private void plan(Fault fault, int begins, int ends) {
        SplittableRandom particulars = random.split();
        events.add(new Event(begins, () -> strike(fault, particulars, ends - begins)));
        events.add(new Event(ends, () -> mend(fault)));
    }

    private int lasting(Fault fault) {
        int longest = lengthy ? fault.longest() : Math.min(fault.longest(), LONGEST_IN_SHORT);
        int shortest = lengthy ? fault.shortest() : Math.max(fault.shortest(), 3 * OVERLAP);
        return random.nextInt(shortest, Math.max(shortest, longest) + 1);
    }

    private void strike(Fault fault, SplittableRandom particulars, int lasting) throws Exception {
        world.calm.end(fault.layer() == Fault.Layer.NETWORK, fault.isServerBehind());
        world.journal.noteFault(fault.kind() + " for " + Duration.ofMillis(lasting));
        for (Fault other : struck.keySet()) {
            world.figures.count("overlap " + other.kind() + " + " + fault.kind());
        }
        struck.put(fault, fault.strike().with(particulars));
        world.figures.count("fault " + fault.kind());
    }

    /** Ends what is wrong, the latest first. */
    void mend() throws Exception {
        events.clear();
        List<Fault> latestFirst = new ArrayList<>(struck.keySet());
        Collections.reverse(latestFirst);
        for (Fault fault : latestFirst) {
            mend(fault);
        }
    }

    private void mend(Fault fault) throws Exception {
        Fault.Mend over = struck.get(fault);
        if (over == null) {
            throw new IllegalStateException(fault.kind() + " has not struck");
        }
        over.mend();
        struck.remove(fault);
        long now = world.time.now();
        if (struck.keySet().stream().noneMatch(Fault::isServerBehind) && fault.isServerBehind()) {
            world.calm.behindUntil(now + fault.behind().toNanos());
        }
        if (struck.keySet().stream().noneMatch(other -> other.layer() == Fault.Layer.NETWORK)) {
            world.calm.networkBegins(now);
        }
        if (struck.isEmpty()) {
            world.calm.begin(now);
        }
        world.journal.noteFault(fault.kind() + " is over");
    }
}
