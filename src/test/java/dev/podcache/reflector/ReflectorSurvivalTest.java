package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.reflector.ReflectorFixture.RecordingSink;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A port must not throw. If it does all the same, the attempt has failed, and is repeated like any other. */
@ExtendWith(NoLeaks.class)
class ReflectorSurvivalTest {

    private static final Duration RETRIED_WITHIN = Duration.ofMillis(200);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Throwing server = new Throwing();
    private final RecordingSink sink = new RecordingSink();
    private final Recovery recovery = new Recovery(time, () -> 0.0);
    private final Reflector<String> reflector = new Reflector<>(server, sink, recovery);

    /** Throws at once where it should return, as often as requested. */
    private static final class Throwing implements ListerWatcher<String> {

        private final ManualListerWatcher<String> real = new ManualListerWatcher<>();
        private int times;
        private boolean closeThrows;

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            throwIfRequested();
            return real.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            throwIfRequested();
            WatchHandle watch = real.watch(version, serverTimeout, events);
            return () -> {
                if (closeThrows) {
                    throw new IllegalStateException("thrown by the test");
                }
                watch.close();
            };
        }

        private void throwIfRequested() {
            if (times > 0) {
                times--;
                throw new OutOfMemoryError("unable to create native thread");
            }
        }

        @Override
        public String toString() {
            return "things";
        }
    }

    @AfterEach
    void close() {
        reflector.close();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void list_throws_isAFailedAttemptThatIsRepeated() {
        server.times = 2;
        reflector.start();
        time.advance(RETRIED_WITHIN);
        time.advance(RETRIED_WITHIN.multipliedBy(2));
        server.real.answer("5", List.of());

        assertThat(sink.calls).containsExactly("disconnected UNAVAILABLE", "disconnected UNAVAILABLE", "replace []@5");
        assertThat(server.real.watches()).isEqualTo(1);
    }

    @Test
    void watch_throws_isAFailedAttemptThatIsRepeatedFromTheSameVersion() {
        reflector.start();
        server.times = 1;
        server.real.answer("5", ImmutableList.of());
        assertThat(sink.calls).containsExactly("replace []@5", "disconnected UNAVAILABLE");

        time.advance(RETRIED_WITHIN);
        server.real.watch().open();

        assertThat(server.real.watch().resourceVersion).isEqualTo("5");
        assertThat(sink.calls).last().isEqualTo("connected");
    }

    /** The check of silent watches is shared by all reflectors of a server. */
    @Test
    void closeOfASilentWatch_throws_thoseOfOthersAreGivenUpAllTheSame(NoLeaks leaks) {
        leaks.allowWarnings("things: a step threw; this is a bug in Podcache");
        ManualListerWatcher<String> next = new ManualListerWatcher<>();
        Reflector<String> another = new Reflector<>(next, new RecordingSink(), recovery);
        reflector.start();
        another.start();
        for (ManualListerWatcher<String> each : List.of(server.real, next)) {
            each.answer("5", List.of());
            each.watch().open();
            each.watch().bookmark("6");
        }
        server.closeThrows = true;

        time.advance(Duration.ofSeconds(90));

        assertThat(next.watch().closed()).isTrue();
        assertThat(sink.calls).contains("disconnected UNAVAILABLE");
        server.closeThrows = false;
        another.close();
    }
}
