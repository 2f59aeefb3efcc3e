package dev.podcache.cli.observe;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Event;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class WatchNewsTest {

    private final List<Event> told = new CopyOnWriteArrayList<>();
    private final WatchNews news = new WatchNews(told::add);

    @AfterEach
    void close() {
        news.close();
    }

    @Test
    void opened_manyInAMoment_areOneLine() {
        inAMoment(() -> {
            for (int millis = 1; millis <= 21; millis++) {
                news.opened(Duration.ofMillis(millis));
            }
        });

        await().until(() -> !told.isEmpty());
        assertThat(told)
                .containsExactly(new Event(
                        "watched",
                        "21 objects, live after 1 ms to 21 ms",
                        ImmutableMap.of("watches", 21, "shortestSeconds", 0.001, "longestSeconds", 0.021)));
    }

    @Test
    void opened_one_hasOneTime() {
        news.opened(Duration.ofMillis(1500));

        news.close();

        assertThat(told).extracting(Event::text).containsExactly("1 object, live after 1.50 s");
    }

    @Test
    void lost_severalReasons_areNamedInOneLine() {
        inAMoment(() -> {
            news.lost(FailureReason.UNAVAILABLE);
            news.lost(FailureReason.TIMEOUT);
            news.lost(FailureReason.UNAVAILABLE);
        });

        await().until(() -> !told.isEmpty());
        assertThat(told).singleElement().satisfies(event -> {
            assertThat(event.name()).isEqualTo("watch-lost");
            assertThat(event.text()).startsWith("3 objects served as last known, their watches failed: ");
            assertThat(event.facts()).containsEntry("reasons", ImmutableMap.of("UNAVAILABLE", 2, "TIMEOUT", 1));
        });
    }

    @Test
    void failed_watchThatNeverWasLive_isToldAsSuch() {
        news.failed(FailureReason.FORBIDDEN);

        news.close();

        assertThat(told)
                .extracting(Event::name, Event::text)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(
                        "unwatched", "1 object cannot be watched, trying on: FORBIDDEN"));
    }

    @Test
    void again_othersStillLost_waitsForTheLast() {
        news.again(Duration.ofMillis(300), true);
        news.lost(FailureReason.UNAVAILABLE);
        await().until(() -> told.size() == 1);

        news.again(Duration.ofMillis(700), false);

        await().until(() -> told.size() == 2);
        assertThat(told.get(1).text()).isEqualTo("2 objects again, after 300 ms to 700 ms");
    }

    @Test
    void again_othersStayLost_isToldAfterAWhile() {
        news.again(Duration.ofMillis(300), true);

        await().until(() -> told.size() == 1);
        assertThat(told.get(0).text()).isEqualTo("1 object again, after 300 ms");
    }

    @Test
    void close_newsAfterIt_areNone() {
        news.close();

        news.opened(Duration.ofMillis(1));
        news.close();

        assertThat(told).isEmpty();
    }

    /** Without a look in between, however long this thread is not run. */
    private void inAMoment(Runnable manyNews) {
        synchronized (news) {
            manyNews.run();
        }
    }
}
