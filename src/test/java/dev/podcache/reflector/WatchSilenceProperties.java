package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/** Of many reflectors that share one {@link Recovery}, each gives up its own silent watch, when it is time. */
class WatchSilenceProperties {

    private static final int REFLECTORS = 20;
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(90);
    private static final Duration LONGEST_WATCH = Duration.ofMinutes(30).plusSeconds(30);

    /** How late a silent watch may be noticed. */
    private static final Duration NOTICED_WITHIN = Duration.ofSeconds(10);

    enum WatchAction {
        BOOKMARK,
        EVENT,
        END,
        SECONDS,
        MINUTES
    }

    record SilenceStep(WatchAction action, int reflector, int amount) {}

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final List<ObservedWatch> watches = new ArrayList<>();

    /** One watch, what it brought and when it was closed. */
    private final class ObservedWatch implements WatchHandle {

        private final Consumer<WatchEvent<String>> events;
        private final Duration began = now();
        private Duration lastReceived = now();
        private boolean bookmarked;
        private boolean ended;
        private @Nullable Duration closedAt;

        ObservedWatch(Consumer<WatchEvent<String>> events) {
            this.events = events;
        }

        void tell(WatchEvent<String> event) {
            if (closedAt == null && !ended) {
                lastReceived = now();
                bookmarked |= event instanceof WatchEvent.Bookmark;
                ended = event instanceof WatchEvent.Ended;
                events.accept(event);
            }
        }

        @Override
        public void close() {
            if (!ended && closedAt == null) {
                closedAt = now();
            }
        }

        private Duration due() {
            Duration overdue = began.plus(LONGEST_WATCH);
            Duration silent = lastReceived.plus(LONGEST_SILENCE);
            return bookmarked && silent.compareTo(overdue) < 0 ? silent : overdue;
        }

        void requireGivenUpInTime() {
            Duration latest = due().plus(NOTICED_WITHIN);
            if (closedAt != null) {
                assertThat(closedAt).isBetween(due(), latest);
            } else if (!ended) {
                assertThat(now()).isLessThan(latest);
            }
        }
    }

    /** The server of one reflector. */
    private final class ObservedServer implements ListerWatcher<String> {

        private @Nullable ObservedWatch latest;

        @Override
        public CompletableFuture<Listed<String>> list(Duration timeout) {
            return CompletableFuture.completedFuture(new Listed<>(List.of(), "20"));
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<String>> events) {
            ObservedWatch watch = new ObservedWatch(events);
            watches.add(watch);
            latest = watch;
            watch.tell(new WatchEvent.Opened<>());
            return watch;
        }

        void tell(WatchEvent<String> event) {
            if (latest != null) {
                latest.tell(event);
            }
        }

        @Override
        public String toString() {
            return "things";
        }
    }

    private static final class NoSink implements ReflectorSink<String> {

        @Override
        public void replace(List<Fetched<String>> items, String resourceVersion) {}

        @Override
        public void upsert(Fetched<String> fetched) {}

        @Override
        public void delete(Fetched<String> last) {}

        @Override
        public void connected() {}

        @Override
        public void disconnected(ApiServerException cause) {}
    }

    @Provide
    Arbitrary<List<SilenceStep>> steps() {
        return Combinators.combine(
                        Arbitraries.frequency(
                                Tuple.of(4, WatchAction.BOOKMARK),
                                Tuple.of(2, WatchAction.EVENT),
                                Tuple.of(1, WatchAction.END),
                                Tuple.of(6, WatchAction.SECONDS),
                                Tuple.of(1, WatchAction.MINUTES)),
                        Arbitraries.integers().between(0, REFLECTORS - 1),
                        Arbitraries.integers().between(1, 30))
                .as(SilenceStep::new)
                .list()
                .ofMaxSize(60);
    }

    @Property
    void silentWatch_anyHistoryOfMany_isGivenUpWhenItIsTime(@ForAll("steps") List<SilenceStep> steps) {
        watches.clear();
        Recovery recovery = new Recovery(time, () -> 0.0);
        List<ObservedServer> servers = IntStream.range(0, REFLECTORS)
                .mapToObj(i -> new ObservedServer())
                .toList();
        List<Reflector<String>> reflectors = servers.stream()
                .map(server -> new Reflector<>(server, new NoSink(), recovery))
                .toList();
        reflectors.forEach(Reflector::start);
        for (SilenceStep step : steps) {
            ObservedServer server = servers.get(step.reflector);
            switch (step.action) {
                case BOOKMARK -> server.tell(new WatchEvent.Bookmark<>("20"));
                case EVENT -> server.tell(new WatchEvent.Upserted<>(new Fetched<>("a", "20", 1)));
                case END -> server.tell(new WatchEvent.Ended<>(null));
                case SECONDS -> time.advance(Duration.ofSeconds(step.amount));
                case MINUTES -> time.advance(Duration.ofMinutes(step.amount));
            }
            watches.forEach(ObservedWatch::requireGivenUpInTime);
        }
        reflectors.forEach(Reflector::close);
        assertThat(time.scheduledTasks()).isZero();
    }

    private Duration now() {
        return Duration.ofNanos(time.nanoTime());
    }
}
