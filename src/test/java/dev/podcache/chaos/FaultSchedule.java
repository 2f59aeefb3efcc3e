package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Which fault strikes when: all of them in an order that the seed says, then all of them in another. One thread. */
final class FaultSchedule {

    private static final int SHORTEST_GAP = 300;
    private static final int LONGEST_GAP = 2_000;

    /** What faults last at most, if they can be so short, and gaps, in a run that is short itself. */
    private static final int LONGEST_IN_SHORT = 1_500;

    /** One gap in so many is long enough for everything to be quite in order again. */
    private static final int CALM_ONCE_IN = 20;

    private static final int LONG_CALM = 20_000;

    private final World world;
    private final List<Fault> faults;
    private final SplittableRandom random;
    private final boolean lengthy;
    private final List<Fault> ahead = new ArrayList<>();
    private Fault.@Nullable Mend struck;

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
        if (struck == null) {
            return strike();
        }
        mend();
        boolean calm = lengthy && random.nextInt(CALM_ONCE_IN) == 0;
        return Duration.ofMillis(
                calm ? LONG_CALM : random.nextInt(SHORTEST_GAP, lengthy ? LONGEST_GAP : LONGEST_IN_SHORT));
    }

    private Duration strike() throws Exception {
        if (ahead.isEmpty()) {
            ahead.addAll(faults);
            Collections.shuffle(ahead, new Random(random.nextLong()));
        }
        Fault fault = ahead.remove(0);
        int longest = lengthy ? fault.longest() : Math.min(fault.longest(), LONGEST_IN_SHORT);
        Duration lasting = Duration.ofMillis(random.nextInt(fault.shortest(), Math.max(fault.shortest(), longest) + 1));
        SplittableRandom particulars = random.split();
        world.calm.end();
        note("fault: " + fault.kind() + " for " + lasting);
        struck = fault.strike().with(particulars);
        world.figures.count("fault " + fault.kind());
        return lasting;
    }

    /** Ends what is wrong. */
    void mend() throws Exception {
        Fault.Mend over = struck;
        if (over != null) {
            struck = null;
            over.mend();
            world.calm.begin(world.time.now());
            note("fault: over");
        }
    }

    private void note(String what) {
        world.subjects.forEach(subject -> world.journal.note(subject, what));
    }
}
