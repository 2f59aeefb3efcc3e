package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.MAIL;
import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * An API server that takes any time to answer, or never does, and that decides by rights of up to ten seconds ago, while
 * rights change in any order: nobody reads later than eleven seconds after he lost the right. And one that answers in time,
 * while roles change every ten milliseconds: everybody is decided, nobody who may read is denied, and reviews keep a pace.
 */
class ReviewPaceProperties {

    private static final Duration TICK = Duration.ofMillis(25);
    private static final long MOST_SERVED = Duration.ofSeconds(11).toNanos();

    /** In a minute of one pair: two a second, and the first three. */
    private static final int MOST_IN_A_MINUTE = 123;

    private enum RightsChange {
        REVOKED,
        GRANTED,
        ANOTHER,
        OF_ANOTHER_NAMESPACE,
        MANY
    }

    /** A change, and how long it rests then. */
    private record RightsStep(RightsChange change, int restMillis) {}

    /**
     * How a review is answered.
     *
     * @param decidedMillis when it decides: after it began, and before it answers
     * @param lagMillis by rights of how long ago
     */
    private record ServersAnswer(int afterMillis, int decidedMillis, int lagMillis, boolean fails) {}

    @Provide
    Arbitrary<List<RightsStep>> steps() {
        return Combinators.combine(
                        Arbitraries.of(RightsChange.class),
                        Arbitraries.integers().between(0, 4_000))
                .as(RightsStep::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(20);
    }

    @Provide
    Arbitrary<List<ServersAnswer>> answers() {
        Arbitrary<Integer> after = Arbitraries.frequencyOf(
                Tuple.of(6, Arbitraries.integers().between(0, 400)),
                Tuple.of(2, Arbitraries.integers().between(400, 3_000)),
                Tuple.of(1, Arbitraries.integers().between(3_000, 60_000)));
        return Combinators.combine(
                        after,
                        Arbitraries.integers().between(0, 3_000),
                        Arbitraries.integers().between(0, 10_000),
                        Arbitraries.of(false, false, false, true))
                .as(ServersAnswer::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(40);
    }

    /** The rights of one subject over time, and a server that reviews them. */
    private static final class LaggingServer {

        private final ManualTimekeeper time = new ManualTimekeeper();
        private final OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
        private final NavigableMap<Long, Boolean> rights = new TreeMap<>();
        private final Deque<ServersAnswer> left = new ArrayDeque<>();
        private final List<ServersAnswer> script;
        private final Map<ManualReviews.Call, ServersAnswer> given = new HashMap<>();
        private final Map<ManualReviews.Call, Long> begun = new HashMap<>();
        private final Referrer web = owner("a", WEB);

        LaggingServer(List<ServersAnswer> script) {
            this.script = script;
            rights.put(time.nanoTime() - Duration.ofDays(1).toNanos(), true);
            cache.create(TLS, "v1");
            cache.register(web, TLS);
            note();
        }

        private boolean isAllowedAt(long nanos) {
            return Objects.requireNonNull(rights.floorEntry(nanos)).getValue();
        }

        private void change(RightsStep step) {
            switch (step.change) {
                case REVOKED, GRANTED -> {
                    rights.put(time.nanoTime(), step.change == RightsChange.GRANTED);
                    cache.cached.accessChanged("shop");
                }
                case ANOTHER -> cache.cached.accessChanged("");
                case OF_ANOTHER_NAMESPACE -> cache.cached.accessChanged("other");
                case MANY -> {
                    for (int i = 0; i < 20; i++) {
                        cache.cached.accessChanged("shop");
                        pass(Duration.ofMillis(100));
                    }
                }
            }
            note();
            check();
            pass(Duration.ofMillis(step.restMillis));
        }

        /** Draws for each new review how it is answered. */
        private void note() {
            for (ManualReviews.Call call : cache.reviews.open()) {
                if (!begun.containsKey(call)) {
                    begun.put(call, time.nanoTime());
                    if (left.isEmpty()) {
                        left.addAll(script);
                    }
                    given.put(call, left.remove());
                }
            }
        }

        private void pass(Duration length) {
            for (long left = length.toNanos(); left > 0; left -= TICK.toNanos()) {
                time.advance(TICK);
                note();
                cache.reviews.open().forEach(this::answer);
                note();
                check();
            }
        }

        private void answer(ManualReviews.Call call) {
            ServersAnswer answer = Objects.requireNonNull(given.get(call));
            long begin = Objects.requireNonNull(begun.get(call));
            if (time.nanoTime() - begin < answer.afterMillis * 1_000_000L) {
                return;
            }
            if (answer.fails) {
                call.fail(FailureReason.UNAVAILABLE, null);
                return;
            }
            long decided = Math.min(time.nanoTime(), begin + answer.decidedMillis * 1_000_000L);
            call.answer(isAllowedAt(decided - answer.lagMillis * 1_000_000L));
        }

        private void check() {
            Map.Entry<Long, Boolean> last = rights.lastEntry();
            // since when it has been revoked, without a moment between
            long since = last.getKey();
            for (Map.Entry<Long, Boolean> earlier : rights.descendingMap().entrySet()) {
                if (earlier.getValue()) {
                    break;
                }
                since = earlier.getKey();
            }
            if (!last.getValue() && cache.secrets.peek(web, "shop", "tls").isPresent()) {
                assertThat(time.nanoTime() - since)
                        .as("served after the revocation, in ns")
                        .isLessThan(MOST_SERVED);
            }
        }
    }

    @Property(tries = 300)
    void read_neverSucceedsElevenSecondsAfterTheRightWasLost(
            @ForAll("steps") List<RightsStep> steps, @ForAll("answers") List<ServersAnswer> answers) {
        LaggingServer server = new LaggingServer(answers);
        steps.forEach(server::change);
        server.pass(Duration.ofSeconds(15));
    }

    @Provide
    Arbitrary<List<Integer>> latencies() {
        return Arbitraries.integers().between(0, 400).list().ofMinSize(1).ofMaxSize(20);
    }

    @Property(tries = 30)
    void changesWithoutEnd_everybodyIsDecided_nobodyWhoMayIsDenied_andReviewsAreBounded(
            @ForAll("latencies") List<Integer> latencies) {
        ManualTimekeeper time = new ManualTimekeeper();
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
        cache.create(TLS, "v1");
        Map<ManualReviews.Call, Long> due = new HashMap<>();
        Map<Subject, List<Long>> begun = new HashMap<>(Map.of(WEB, new ArrayList<>(), MAIL, new ArrayList<>()));
        Referrer web = owner("a", WEB);
        Referrer mail = owner("b", MAIL);
        cache.register(web, TLS);
        cache.register(mail, TLS);
        int calls = 0;
        for (int i = 0; i < 7_000; i++) {
            cache.cached.accessChanged(i % 7 == 0 ? "" : "shop");
            for (ManualReviews.Call call : cache.reviews.open()) {
                if (!due.containsKey(call)) {
                    int latency = latencies.get(calls++ % latencies.size());
                    due.put(call, time.nanoTime() + latency * 1_000_000L);
                    Objects.requireNonNull(begun.get(call.subject())).add(time.nanoTime());
                }
                if (time.nanoTime() - Objects.requireNonNull(due.get(call)) >= 0) {
                    call.answer(WEB.equals(call.subject()));
                }
            }
            // three answers, at most half a second apart, and the last one's time
            if (i > 200) {
                assertThat(cache.secrets.peek(web, "shop", "tls"))
                        .as("after %d ms", 10 * i)
                        .isPresent();
                assertThat(cache.secrets.getObjectAsync(mail, "shop", "tls"))
                        .as("after %d ms", 10 * i)
                        .isCompletedExceptionally();
            }
            time.advance(Duration.ofMillis(10));
        }
        assertThat(cache.secrets
                        .getObjectAsync(mail, "shop", "tls")
                        .handle((object, failure) -> failure)
                        .join())
                .isInstanceOf(Denied.class);
        begun.forEach((subject, times) ->
                assertThat(mostInAMinute(times)).as("reviews of %s", subject).isBetween(60, MOST_IN_A_MINUTE));
    }

    private static int mostInAMinute(List<Long> times) {
        int most = 0;
        for (int first = 0, last = 0; last < times.size(); last++) {
            while (times.get(last) - times.get(first) >= Duration.ofMinutes(1).toNanos()) {
                first++;
            }
            most = Math.max(most, last - first + 1);
        }
        return most;
    }
}
