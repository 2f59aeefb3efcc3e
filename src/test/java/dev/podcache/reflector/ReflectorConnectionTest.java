package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.ReflectorFixture.RecordingSink;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which connection carries the watch. */
@ExtendWith(NoLeaks.class)
class ReflectorConnectionTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final NamedConnections server = new NamedConnections();
    private final Reflector<String> reflector =
            new Reflector<>(server, new RecordingSink(), new Recovery(time, () -> 0.0));

    /** Carries each watch over a connection of its own. */
    private static final class NamedConnections implements ListerWatcher<String> {

        private final ManualListerWatcher<String> real = new ManualListerWatcher<>();
        private int connections;

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            return real.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            WatchHandle watch = real.watch(version, serverTimeout, events);
            String name = "server #" + ++connections;
            return new WatchHandle() {
                @Override
                public void close() {
                    watch.close();
                }

                @Override
                public String connection() {
                    return name;
                }
            };
        }

        @Override
        public String toString() {
            return "things";
        }
    }

    @Test
    void connection_isThatOfTheOpenWatch() {
        assertThat(reflector.connection()).isEmpty();
        reflector.start();
        assertThat(reflector.connection()).isEmpty();
        server.real.answer("10", List.of());
        assertThat(reflector.connection()).isEqualTo("server #1");

        server.real.watch().end(ReflectorFixture.failure(FailureReason.UNAVAILABLE, null));
        assertThat(reflector.connection()).as("during the pause").isEmpty();
        time.advance(Duration.ofMillis(200));
        assertThat(reflector.connection()).isEqualTo("server #2");
        reflector.close();
        assertThat(reflector.connection()).isEmpty();
    }

    /** Whoever asks may hold a lock. */
    @Test
    void connection_whileTheLocksAreHeld_returns() throws Exception {
        reflector.start();
        server.real.answer("10", List.of());
        CompletableFuture<String> connection = new CompletableFuture<>();
        synchronized (reflector) {
            synchronized (reflector.recovery) {
                NewThread.EACH.execute(() -> connection.complete(reflector.connection()));
                assertThat(connection.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo("server #1");
            }
        }
        reflector.close();
    }
}
