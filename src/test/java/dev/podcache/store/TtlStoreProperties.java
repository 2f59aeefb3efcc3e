package dev.podcache.store;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * Strategy CACHE against a model: any history of references, gets, changes at the server, failures, a lagging cache and
 * passing time. Holds the store to registration (P1), monotone reads (P2), the budget of requests (P3), stale on error
 * (P4), no leak (P5) and the count of references (P6), with background refresh (B7) and without.
 */
class TtlStoreProperties {

    /** One step of a history. */
    private record TtlStep(String text, Consumer<TtlWorld> action) {
        @Override
        public String toString() {
            return text;
        }
    }

    @Property
    void anyHistory_keepsThePromises(
            @ForAll("histories") List<TtlStep> history, @ForAll("maxStalenesses") Duration maxStaleness) {
        TtlWorld world = new TtlWorld(maxStaleness);
        for (TtlStep step : history) {
            step.action().accept(world);
            world.check();
        }
        world.end();
    }

    /** Found by seed 5660559319536916799: a TTL raised from 0 makes fresh again what was cached under it. */
    @Example
    void ttlRaisedFromZero_keepsThePromises() {
        ObjectKey key = ObjectKey.of("default", "secret-1");
        TtlWorld world = new TtlWorld(Duration.ZERO);
        world.addReference(key, PodKey.of("default", "pod", "uid-1"));
        world.write(key);
        world.changeTtl(Duration.ZERO);
        world.get(key);
        world.write(key);
        world.changeTtl(Duration.ofSeconds(1));
        world.get(key);
        world.passTime(Duration.ofSeconds(2));
        world.get(key);
        world.end();
    }

    @Provide
    Arbitrary<List<TtlStep>> histories() {
        return Arbitraries.frequencyOf(
                        Tuple.of(8, keys().map(key -> step("get " + key, world -> world.get(key)))),
                        Tuple.of(4, references("refer", TtlWorld::addReference)),
                        Tuple.of(2, references("release", TtlWorld::deleteReference)),
                        Tuple.of(3, keys().map(key -> step("write " + key, world -> world.write(key)))),
                        Tuple.of(1, keys().map(key -> step("delete " + key, world -> world.delete(key)))),
                        Tuple.of(3, times().map(time -> step("pass " + time, world -> world.passTime(time)))),
                        Tuple.of(2, failures()),
                        Tuple.of(1, Arbitraries.of(true, false).map(on -> step("lag " + on, world -> world.lag(on)))),
                        Tuple.of(1, ttls().map(ttl -> step("ttl " + ttl, world -> world.changeTtl(ttl)))))
                .list()
                .ofMaxSize(60);
    }

    /** Of background refresh; none half of the time. */
    @Provide
    Arbitrary<Duration> maxStalenesses() {
        return Arbitraries.of(0L, 0L, 30L, 400L).map(Duration::ofSeconds);
    }

    private static TtlStep step(String text, Consumer<TtlWorld> action) {
        return new TtlStep(text, action);
    }

    private static Arbitrary<ObjectKey> keys() {
        return Arbitraries.integers().between(1, 3).map(i -> ObjectKey.of("default", "secret-" + i));
    }

    private interface TtlReferenceChange {
        void apply(TtlWorld world, ObjectKey key, PodKey pod);
    }

    private static Arbitrary<TtlStep> references(String verb, TtlReferenceChange change) {
        Arbitrary<PodKey> pods = Arbitraries.integers().between(1, 3).map(i -> PodKey.of("default", "pod", "uid-" + i));
        return Combinators.combine(keys(), pods)
                .as((key, pod) -> step(verb + " " + key + " for " + pod, world -> change.apply(world, key, pod)));
    }

    private static Arbitrary<TtlStep> failures() {
        Arbitrary<FailureReason> reasons = Arbitraries.of(
                FailureReason.UNAVAILABLE,
                FailureReason.FORBIDDEN,
                FailureReason.THROTTLED,
                FailureReason.UNREADABLE,
                FailureReason.TIMEOUT);
        Arbitrary<Duration> retryAfter =
                Arbitraries.of(Duration.ofSeconds(1), Duration.ofSeconds(90)).injectNull(0.7);
        return Combinators.combine(Arbitraries.integers().between(1, 4), reasons, retryAfter)
                .as((times, reason, pause) ->
                        step("fail " + times + " " + reason, world -> world.fail(times, reason, pause)));
    }

    private static Arbitrary<Duration> times() {
        return Arbitraries.of(1L, 50L, 100L, 250L, 999L, 15_000L, 59_950L, 60_000L, 300_000L)
                .map(Duration::ofMillis);
    }

    private static Arbitrary<Duration> ttls() {
        return Arbitraries.of(0L, 1L, 60L, 300L).map(Duration::ofSeconds);
    }
}
