package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cases of upstream's tests of its rate-limited queue. */
class TaintQueueTest {

    private static final double UNLIMITED = 1e9;

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();

    private TaintQueue queue(double rate) {
        TaintQueue queue = new TaintQueue(rate, timekeeper);
        List.of("first", "second", "third").forEach(node -> {
            queue.add(node);
            timekeeper.advance(Duration.ofMillis(1));
        });
        return queue;
    }

    private List<String> takeAll(TaintQueue queue) {
        List<String> taken = new ArrayList<>();
        for (TaintQueue.QueuedNode entry = queue.take(); entry != null; entry = queue.take()) {
            taken.add(entry.node);
            timekeeper.advance(Duration.ofNanos(2));
        }
        return taken;
    }

    @Test
    void nodes_areTakenInTheOrderInWhichTheyWereAdded() {
        assertThat(takeAll(queue(UNLIMITED))).containsExactly("first", "second", "third");
    }

    @ParameterizedTest
    @CsvSource({"first, 'second,third'", "second, 'first,third'", "third, 'first,second'"})
    void removedNode_isNotTaken(String removed, String left) {
        TaintQueue queue = queue(UNLIMITED);

        assertThat(queue.remove(removed)).isTrue();

        assertThat(takeAll(queue)).containsExactly(left.split(","));
    }

    @Test
    void nodeIsAddedTwice_isTakenOnce_untilItIsRemoved() {
        TaintQueue queue = queue(UNLIMITED);

        assertThat(queue.add("first")).isFalse();
        assertThat(takeAll(queue)).containsExactly("first", "second", "third");
        assertThat(queue.add("first")).isFalse();
        assertThat(takeAll(queue)).isEmpty();

        queue.remove("first");
        assertThat(queue.add("first")).isTrue();
        assertThat(takeAll(queue)).containsExactly("first");
    }

    @Test
    void nodeIsPutBack_isTakenAfterThePause_othersFirst() {
        TaintQueue queue = queue(UNLIMITED);
        TaintQueue.QueuedNode first = Objects.requireNonNull(queue.take());

        queue.putBack(first, Duration.ofMillis(50));

        timekeeper.advance(Duration.ofMillis(1));
        assertThat(takeAll(queue)).containsExactly("second", "third");
        timekeeper.advance(Duration.ofMillis(50));
        assertThat(takeAll(queue)).containsExactly("first");
    }

    @Test
    void nodeIsRemovedWhileItIsTaken_isNotPutBack() {
        TaintQueue queue = queue(UNLIMITED);
        TaintQueue.QueuedNode first = Objects.requireNonNull(queue.take());

        queue.remove("first");
        queue.putBack(first, Duration.ZERO);

        timekeeper.advance(Duration.ofMillis(1));
        assertThat(takeAll(queue)).containsExactly("second", "third");
    }

    @Test
    void nodeIsRemovedAndAddedWhileItIsTaken_theNewOneCounts() {
        TaintQueue queue = queue(UNLIMITED);
        TaintQueue.QueuedNode first = Objects.requireNonNull(queue.take());

        queue.remove("first");
        queue.add("first");
        queue.putBack(first, Duration.ofHours(1));

        timekeeper.advance(Duration.ofMillis(1));
        assertThat(takeAll(queue)).containsExactly("second", "third", "first");
    }

    @Test
    void rate_limitsTheNodesOfTime() {
        TaintQueue queue = queue(0.1);

        assertThat(takeAll(queue)).containsExactly("first");
        timekeeper.advance(Duration.ofMillis(9_990));
        assertThat(takeAll(queue)).isEmpty();
        timekeeper.advance(Duration.ofMillis(20));
        assertThat(takeAll(queue)).containsExactly("second");
    }

    @Test
    void rateZero_takesNone() {
        TaintQueue queue = queue(0);

        timekeeper.advance(Duration.ofDays(1));

        assertThat(takeAll(queue)).isEmpty();
    }

    @Test
    void rateChangesWhileItWaits_waitsAtTheNewRate() {
        TaintQueue queue = queue(0.1);
        takeAll(queue);

        queue.setRate(0.01);

        timekeeper.advance(Duration.ofSeconds(99));
        assertThat(takeAll(queue)).isEmpty();
        timekeeper.advance(Duration.ofSeconds(2));
        assertThat(takeAll(queue)).containsExactly("second");
    }

    @Test
    void rateChangesFromZero_waitsForTheFirstToken() {
        TaintQueue queue = queue(0);

        queue.setRate(0.1);

        assertThat(queue.rate()).isEqualTo(0.1);
        assertThat(takeAll(queue)).isEmpty();
        timekeeper.advance(Duration.ofSeconds(11));
        assertThat(takeAll(queue)).containsExactly("first");
    }

    @Test
    void nodeThatIsNotDue_usesNoToken() {
        TaintQueue queue = new TaintQueue(0.1, timekeeper);
        queue.add("a");
        TaintQueue.QueuedNode entry = Objects.requireNonNull(queue.take());
        queue.putBack(entry, Duration.ofSeconds(10));

        for (int i = 0; i < 100; i++) {
            timekeeper.advance(Duration.ofMillis(100));
            queue.take();
        }

        timekeeper.advance(Duration.ofMillis(1));
        queue.add("b");
        assertThat(queue.isWaiting("b")).isTrue();
    }
}
