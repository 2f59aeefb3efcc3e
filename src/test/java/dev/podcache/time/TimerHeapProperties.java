package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.time.TimerHeap.Timer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A heap of timers is a list that is sorted by time, and by number where times are equal. */
class TimerHeapProperties {

    private record DueTimer(long due, Timer timer) {}

    private final TimerHeap heap = new TimerHeap();
    private final List<DueTimer> expected = new ArrayList<>();
    private int scheduled;

    /** Negative steps remove the first timer, -1 also those that were cancelled; the others schedule one. */
    @Property
    void anySteps_pollsInOrder(@ForAll @Size(max = 400) List<@IntRange(min = -4, max = 30) Integer> steps) {
        for (int step : steps) {
            if (step >= 0) {
                add(step);
            } else if (step == -1) {
                cancelEveryThird();
            } else if (!expected.isEmpty()) {
                pollOne();
            }
        }
        while (!expected.isEmpty()) {
            pollOne();
        }
        assertThat(heap.isEmpty()).isTrue();
        assertThat(heap.firstDue()).isEqualTo(Long.MAX_VALUE);
    }

    private void add(long due) {
        Timer timer = new Timer(scheduled++, () -> {});
        heap.add(due, timer);
        expected.add(new DueTimer(due, timer));
        expected.sort(Comparator.comparingLong(DueTimer::due).thenComparingLong(entry -> entry.timer.number));
    }

    private void pollOne() {
        DueTimer first = expected.remove(0);
        assertThat(heap.firstDue()).isEqualTo(first.due);
        assertThat(heap.poll()).isSameAs(first.timer);
        assertThat(heap.size()).isEqualTo(expected.size());
    }

    private void cancelEveryThird() {
        for (int i = 0; i < expected.size(); i += 3) {
            expected.get(i).timer.task = null;
        }
        heap.removeCancelled();
        expected.removeIf(entry -> entry.timer.task == null);
    }
}
