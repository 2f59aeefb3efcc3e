package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.http.ReceiveBudget.Room;
import dev.podcache.apiserver.http.ReceiveBudget.Share;
import dev.podcache.testing.ManualTimekeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Any number of answers of any length, sent in any order as far as the windows allow: all of them get complete. */
class ReceiveBudgetProperties {

    private static final int WINDOW = Http2Streams.STREAM_WINDOW;
    private static final int MOST = 32 * WINDOW;

    private static final class SentAnswer implements ReceiveBudget.Receiver {
        private final int length;
        private int received;
        private int room = WINDOW;
        private boolean failed;

        SentAnswer(int length) {
            this.length = length;
        }

        @Override
        public void goOn() {
            room = WINDOW;
        }

        @Override
        public void giveUp() {
            failed = true;
        }
    }

    @Property(tries = 300)
    void answersThatTogetherExceedTheLimit_allGetComplete(
            @ForAll @IntRange(min = 1, max = 6) int count, @ForAll long seed) {
        Random random = new Random(seed);
        ReceiveBudget budget = new ReceiveBudget(MOST, new ManualTimekeeper());
        List<SentAnswer> answers = new ArrayList<>();
        List<Share> shares = new ArrayList<>();
        int left = 40;
        while (left > 0 || !answers.isEmpty()) {
            while (left > 0 && answers.size() < count) {
                SentAnswer answer = new SentAnswer(1 + random.nextInt(10 * WINDOW));
                answers.add(answer);
                shares.add(budget.share(answer));
                left--;
            }
            List<Integer> sendable = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i).room > 0) {
                    sendable.add(i);
                }
            }
            assertThat(sendable).as("one that may be sent").isNotEmpty();
            int at = sendable.get(random.nextInt(sendable.size()));
            SentAnswer answer = answers.get(at);
            int part = Math.min(answer.length - answer.received, 1 + random.nextInt(Math.min(answer.room, 1 << 16)));
            answer.received += part;
            Room room = shares.get(at).hold(answer.received);

            assertThat(room).isNotEqualTo(Room.NONE);
            assertThat(answer.failed).isFalse();
            assertThat(budget.held()).isLessThanOrEqualTo(MOST);
            if (room == Room.MORE) {
                answer.room = WINDOW;
            } else {
                answer.room -= part;
            }
            if (answer.received == answer.length) {
                shares.get(at).end();
                answers.remove(at);
                shares.remove(at);
            }
        }
        assertThat(budget.held()).isZero();
    }
}
