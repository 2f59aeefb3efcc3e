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
    private final List<ChaosFault> faults;
    private final SplittableRandom random;
    private final boolean lengthy;
    private final Between between;
    private final List<ChaosFault> ahead = new ArrayList<>();
    private final List<PlannedEvent> events = new ArrayList<>();
    private final Map<ChaosFault, ChaosFault.Mend> struck = new LinkedHashMap<>();
    private long roundBegan;

    private long firstRoundBegan = -1; // negative: none has
    private volatile boolean dealt;

    /** What is to happen so many milliseconds after the first fault of the round. */
    private record PlannedEvent(int at, ChaosFault.FaultAction action) {}

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
    FaultSchedule(World world, List<ChaosFault> faults, SplittableRandom random, boolean lengthy, Between between) {
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
        PlannedEvent event = events.remove(0);
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
        events.sort(Comparator.comparingInt(PlannedEvent::at));
        roundBegan = world.time.now();
        if (firstRoundBegan < 0) {
            firstRoundBegan = roundBegan;
        }
    }

    /** One after the other, each of another layer than the one before it, as long as there are such. */
    private void planRound() {
        ChaosFault before = null;
        int ends = 0;
        for (int i = 0; i < OF_A_ROUND && !ahead.isEmpty(); i++) {
            ChaosFault next = nextAfter(before);
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

    private ChaosFault nextAfter(@Nullable ChaosFault before) {
        for (ChaosFault candidate : ahead) {
            if (before != null && candidate.layer() != before.layer()) {
                ahead.remove(candidate);
                return candidate;
            }
        }
        return ahead.remove(0);
    }

    private void planOneOrTwo() {
        ChaosFault next = ahead.remove(0);
        List<ChaosFault> others =
                ahead.stream().filter(fault -> fault.layer() != next.layer()).toList();
        if (others.isEmpty() || random.nextInt(OVERLAP_ONCE_IN) != 0) {
            plan(next, 0, lasting(next));
            return;
        }
        ChaosFault other = others.get(0);
        ahead.remove(other);
        if (other.encloses(next)) {
            planBoth(other, next);
        } else {
            planBoth(next, other);
        }
    }

    private void planBoth(ChaosFault first, ChaosFault second) {
        int firstEnds = lasting(first);
        int secondBegins = random.nextInt(1, firstEnds);
        int secondEnds = secondBegins + lasting(second);
        // the second comes before the first: if both end at once, that is the order
        plan(second, secondBegins, secondEnds);
        plan(first, 0, first.encloses(second) ? Math.max(firstEnds, secondEnds) : firstEnds);
    }

    private void plan(ChaosFault fault, int begins, int ends) {
        SplittableRandom particulars = random.split();
        events.add(new PlannedEvent(begins, () -> strike(fault, particulars, ends - begins)));
        events.add(new PlannedEvent(ends, () -> mend(fault)));
    }

    private int lasting(ChaosFault fault) {
        int longest = lengthy ? fault.longest() : Math.min(fault.longest(), LONGEST_IN_SHORT);
        int shortest = lengthy ? fault.shortest() : Math.max(fault.shortest(), 3 * OVERLAP);
        return random.nextInt(shortest, Math.max(shortest, longest) + 1);
    }

    private void strike(ChaosFault fault, SplittableRandom particulars, int lasting) throws Exception {
        world.calm.end(fault.layer() == ChaosFault.Layer.NETWORK, fault.isServerBehind());
        world.journal.noteFault(fault.kind() + " for " + Duration.ofMillis(lasting));
        for (ChaosFault other : struck.keySet()) {
            world.figures.count("overlap " + other.kind() + " + " + fault.kind());
        }
        struck.put(fault, fault.strike().with(particulars));
        world.figures.count("fault " + fault.kind());
    }

    /** Ends what is wrong, the latest first. */
    void mend() throws Exception {
        events.clear();
        List<ChaosFault> latestFirst = new ArrayList<>(struck.keySet());
        Collections.reverse(latestFirst);
        for (ChaosFault fault : latestFirst) {
            mend(fault);
        }
    }

    private void mend(ChaosFault fault) throws Exception {
        ChaosFault.Mend over = struck.get(fault);
        if (over == null) {
            throw new IllegalStateException(fault.kind() + " has not struck");
        }
        over.mend();
        struck.remove(fault);
        long now = world.time.now();
        if (struck.keySet().stream().noneMatch(ChaosFault::isServerBehind) && fault.isServerBehind()) {
            world.calm.behindUntil(now + fault.behind().toNanos());
        }
        if (struck.keySet().stream().noneMatch(other -> other.layer() == ChaosFault.Layer.NETWORK)) {
            world.calm.networkBegins(now);
        }
        if (struck.isEmpty()) {
            world.calm.begin(now);
        }
        world.journal.noteFault(fault.kind() + " is over");
    }
}
