package dev.podcache.store;

import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many requests strategy WATCH makes: exactly, in hand-driven time. */
@ExtendWith(NoLeaks.class)
class WatchRequestCountsTest {

    /** The fixture's watches fall idle after a minute. */
    private static final Duration READ_EVERY = Duration.ofSeconds(20);

    /** Half an hour is when the first watches ask to be ended. */
    private static final Duration UNINTERRUPTED = Duration.ofMinutes(29);

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100, 1_000})
    void get_anyNumberOfObjects_makesAListAndAWatchEachAndThenNoRequest(int objects) {
        List<ObjectKey> keys = IntStream.range(0, objects)
                .mapToObj(i -> ObjectKey.of("default", "object-" + i))
                .toList();
        keys.forEach(key -> f.create(key, "v1"));
        keys.forEach(key -> f.store.addReference(key, POD));
        keys.forEach(f::get);
        f.requireRequests(objects, objects);
        f.server.clearActions();

        for (Duration time = Duration.ZERO; time.compareTo(UNINTERRUPTED) < 0; time = time.plus(READ_EVERY)) {
            f.timekeeper.advance(READ_EVERY);
            keys.forEach(f::get);
        }

        assertThat(f.server.actions()).isEmpty();
    }
}
