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

/**
 * Which fault strikes when: all of them in an order that the seed says, then all of them in another. Now and then one
 * strikes while one of another layer lasts, and each ends in its own time. One thread.
 */
final class FaultSchedule {

    private static final int SHORTEST_GAP = 300;
    private static final int LONGEST_GAP = 2_000;

    /** What faults last at most, if they can be so short, and gaps, in a run that is short itself. */
    private static final int LONGEST_IN_SHORT = 1_500;

    /** One fault in so many does not stay alone. */
    private static final int OVERLAP_ONCE_IN = 3;

    /** One gap in so many is long enough for everything to be quite in order again. */
    private static final int CALM_ONCE_IN = 20;

    private static final int LONG_CALM = 20_000;

    private final World world;
    private final List<Fault> faults;
    private final SplittableRandom random;
    private final boolean lengthy;
    private final List<Fault> ahead = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final Map<Fault, Fault.Mend> struck = new LinkedHashMap<>();

    /** What is to happen so many milliseconds after the first of those that overlap has struck. */
    private record Event(int at, Fault.Action action) {}

    /**
     * Of these faults.
     *
     * @param lengthy whether there is time for calm in between
     */
    FaultSchedule(World world, List<Fault> faults, SplittableRandom random, boolean lengthy) {
        this.world = world;
        this.faults = faults;
        this.random = random;
        this.lengthy = lengthy;
    }

    Duration step() throws Exception {
        if (events.isEmpty()) {
            plan();
        }
        Event event = events.remove(0);
        event.action().run();
        return Duration.ofMillis(events.isEmpty() ? gap() : events.get(0).at() - event.at());
    }

    private int gap() {
        boolean calm = lengthy && random.nextInt(CALM_ONCE_IN) == 0;
        return calm ? LONG_CALM : random.nextInt(SHORTEST_GAP, lengthy ? LONGEST_GAP : LONGEST_IN_SHORT);
    }

    private void plan() {
        if (ahead.isEmpty()) {
            ahead.addAll(faults);
            Collections.shuffle(ahead, new Random(random.nextLong()));
        }
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
        events.sort(Comparator.comparingInt(Event::at));
    }

    private void plan(Fault fault, int begins, int ends) {
        SplittableRandom particulars = random.split();
        events.add(new Event(begins, () -> strike(fault, particulars, ends - begins)));
        events.add(new Event(ends, () -> mend(fault)));
    }

    private int lasting(Fault fault) {
        int longest = lengthy ? fault.longest() : Math.min(fault.longest(), LONGEST_IN_SHORT);
        return random.nextInt(fault.shortest(), Math.max(fault.shortest(), longest) + 1);
    }

    private void strike(Fault fault, SplittableRandom particulars, int lasting) throws Exception {
        world.calm.end();
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
        Fault.Mend over = struck.remove(fault);
        if (over == null) {
            throw new IllegalStateException(fault.kind() + " has not struck");
        }
        over.mend();
        if (struck.isEmpty()) {
            world.calm.begin(world.time.now());
        }
        world.journal.noteFault(fault.kind() + " is over");
    }
}
