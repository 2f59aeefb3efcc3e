package dev.podcache.apiserver.http;

import static dev.podcache.apiserver.http.ReceiveBudget.Room.LATER;
import static dev.podcache.apiserver.http.ReceiveBudget.Room.MORE;
import static dev.podcache.apiserver.http.ReceiveBudget.Room.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.http.ReceiveBudget.Share;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReceiveBudgetTest {

    private static final int WINDOW = Http2Streams.STREAM_WINDOW;
    private static final int MOST = 16 * WINDOW;
    private static final int PLENTY = 6 * WINDOW;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ReceiveBudget budget = new ReceiveBudget(MOST, time);
    private final List<String> told = new ArrayList<>();

    private Share share(String name) {
        return budget.share(new ReceiveBudget.Receiver() {
            @Override
            public void goOn() {
                told.add(name + " goes on");
            }

            @Override
            public void giveUp() {
                told.add(name + " gives up");
            }
        });
    }

    @Test
    void plenty_nobodyWaits() {
        assertThat(share("a").hold(PLENTY / 2)).isEqualTo(MORE);
        assertThat(share("b").hold(PLENTY / 2)).isEqualTo(MORE);
        assertThat(budget.held()).isEqualTo(PLENTY);
    }

    @Test
    void scarce_oneIsFavored_othersWaitInOrder_smallOnesGoOn() {
        Share a = share("a");
        Share b = share("b");
        Share c = share("c");
        assertThat(a.hold(PLENTY + 1)).isEqualTo(MORE);
        assertThat(b.hold(WINDOW)).isEqualTo(LATER);
        assertThat(c.hold(WINDOW)).isEqualTo(LATER);
        assertThat(b.hold(WINDOW + 1)).isEqualTo(LATER);
        assertThat(share("small").hold(ReceiveBudget.SMALL)).isEqualTo(MORE);
        assertThat(a.hold(PLENTY + WINDOW)).isEqualTo(MORE);
        assertThat(told).isEmpty();

        // it waits for its decoder, and holds what it has
        a.complete();
        assertThat(told).containsExactly("b goes on");
        assertThat(b.hold(2 * WINDOW)).isEqualTo(MORE);

        a.end();
        assertThat(told).containsExactly("b goes on", "c goes on");
    }

    /** Otherwise all that are let go on together would fill one more window each. */
    @Test
    void memoryComesBack_letsAsManyGoOnAsItHasWindowsFor() {
        Share a = share("a");
        a.hold(PLENTY + 1);
        List<Share> others = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Share each = share("" + i);
            assertThat(each.hold(WINDOW * 3 / 4)).isEqualTo(LATER);
            others.add(each);
        }

        a.end();

        // four windows and a half are held, one is promised, and one is favored
        assertThat(told).containsExactly("0 goes on", "1 goes on");
        assertThat(others.get(0).hold(WINDOW)).isEqualTo(MORE);
        others.get(0).end();
        assertThat(told).containsExactly("0 goes on", "1 goes on", "2 goes on", "3 goes on");
    }

    @Test
    void nextLineAfterADecodedOne_isNoLongerFavored() {
        Share a = share("a");
        Share b = share("b");
        a.hold(PLENTY + 1);
        b.hold(PLENTY);

        assertThat(a.hold(10)).isEqualTo(MORE);

        assertThat(told).containsExactly("b goes on");
        assertThat(budget.held()).isEqualTo(PLENTY + 10);
    }

    @Test
    void shareThatWaits_isComplete_goesOn() {
        Share a = share("a");
        Share b = share("b");
        a.hold(PLENTY + 1);
        b.hold(WINDOW);

        b.hold(10);

        assertThat(told).containsExactly("b goes on");
    }

    @Test
    void beyondTheLimit_nothingIsCounted() {
        Share a = share("a");
        a.hold(MOST);

        assertThat(share("b").hold(1)).isEqualTo(NONE);
        assertThat(budget.held()).isEqualTo(MOST);
        a.end();
        a.end();
        assertThat(a.hold(5)).isEqualTo(MORE);
        assertThat(budget.held()).isZero();
        assertThat(budget.peak()).isEqualTo(MOST);
    }

    /** Every answer is half received, and the server sends no more: each has its ten seconds. */
    @Test
    void favoredThatDoesNotGetOn_givesUp_andTheNextIsFavored() {
        Share a = share("a");
        Share b = share("b");
        a.hold(PLENTY + 1);
        b.hold(WINDOW);

        time.advance(Duration.ofSeconds(9));
        a.hold(PLENTY + 2);
        time.advance(Duration.ofSeconds(2));
        assertThat(told).isEmpty();
        time.advance(Duration.ofSeconds(9));
        assertThat(told).containsExactly("a gives up", "b goes on");

        b.hold(WINDOW + 1);
        time.advance(Duration.ofSeconds(21));
        assertThat(told).containsExactly("a gives up", "b goes on", "b gives up");
    }

    @Test
    void shareThatEndsWhileItWaits_isNotToldAnyMore() {
        Share a = share("a");
        Share b = share("b");
        a.hold(PLENTY + 1);
        b.hold(WINDOW);

        b.end();
        a.end();

        assertThat(told).isEmpty();
        assertThat(budget.held()).isZero();
        time.advance(Duration.ofMinutes(1));
        assertThat(told).isEmpty();
    }
}
