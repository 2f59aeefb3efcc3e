package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/**
 * A reflector between a server and a sink that are both driven by hand; pauses are the longest ones because the jitter
 * is 0.
 */
abstract class ReflectorFixture {

    static final Duration MILLI = Duration.ofMillis(1);

    final ManualTimekeeper time = new ManualTimekeeper();
    final ManualListerWatcher<String> server = new ManualListerWatcher<>();
    final RecordingSink sink = new RecordingSink();
    final Reflector<String> reflector = new Reflector<>(server, sink, new Recovery(time, () -> 0.0));

    /** Records its calls. */
    static final class RecordingSink implements ReflectorSink<String> {

        final List<String> calls = new ArrayList<>();
        final Queue<Duration> pausesAfterRefusals = new ArrayDeque<>();

        @Nullable
        RuntimeException thrown;

        Runnable during = () -> {};
        Runnable atListing = () -> {};

        @Override
        public void listing() {
            atListing.run();
        }

        @Override
        public @Nullable Duration pauseAfterRefusal() {
            return pausesAfterRefusals.poll();
        }

        @Override
        public void replace(List<Fetched<String>> items, String resourceVersion) {
            record("replace " + items.stream().map(Fetched::object).toList() + "@" + resourceVersion);
        }

        @Override
        public void upsert(Fetched<String> fetched) {
            record("upsert " + fetched.object());
        }

        @Override
        public void delete(Fetched<String> last) {
            record("delete " + last.object());
        }

        @Override
        public void connected() {
            record("connected");
        }

        @Override
        public void disconnected(ApiServerException cause) {
            record("disconnected " + cause.reason());
        }

        private void record(String call) {
            calls.add(call);
            during.run();
            if (thrown != null) {
                throw thrown;
            }
        }
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("the sink threw; retrying");
    }

    void watching() {
        reflector.start();
        server.answer("10", listOf("a"));
        server.watch().open();
    }

    static List<Fetched<String>> listOf(String... objects) {
        return Stream.of(objects).map(object -> new Fetched<>(object, "9", 1)).toList();
    }

    static ApiServerException failure(FailureReason reason, @Nullable Duration retryAfter) {
        return new ApiServerException(reason, 0, retryAfter, "failed", null);
    }
}
