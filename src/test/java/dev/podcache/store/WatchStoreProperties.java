package dev.podcache.store;

import dev.podcache.embedded.Verb;
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
 * Strategy WATCH against a model: any history of references, gets, changes at the server, broken watches, forgotten
 * history, failures and passing time. Holds the store to registration (P1), monotone reads (P2), stale on error (P4), no leak (P5), the
 * count of references (P6), convergence once the faults end (P7) and staleness that says why (P9).
 */
class WatchStoreProperties {

    /** One step of a history. */
    private record WatchStep(String text, Consumer<WatchWorld> action) {
        @Override
        public String toString() {
            return text;
        }
    }

    @Property
    void anyHistory_keepsThePromises(@ForAll("histories") List<WatchStep> history, @ForAll boolean streamsLists) {
        WatchWorld world = new WatchWorld(streamsLists);
        for (WatchStep step : history) {
            step.action().accept(world);
            world.check();
        }
        world.end();
    }

    /** The watch that brought it was not confirmed after a loss, and what brought it closed the watch. */
    @Example
    void immutableObjectOfAnUnconfirmedWatch_isListedAgainForEachNewReference() {
        ObjectKey key = ObjectKey.of("default", "secret-1");
        PodKey pod = PodKey.of("default", "pod", "uid-1");
        WatchWorld world = new WatchWorld(false);
        world.addReference(key, pod);
        world.get(key);
        world.resetWatches();
        world.passTime(Duration.ofMillis(250));
        world.write(key, true);
        world.check();

        world.fail(Verb.LIST, 3, FailureReason.UNAVAILABLE);
        world.addReference(key, pod);
        world.get(key);
        world.addReference(key, pod);
        world.check();
        world.end();
    }

    /** A reference had joined the watch, so that what is immutable may be older than it: the watch goes on, in doubt. */
    @Example
    void immutableObjectOfAnUnconfirmedWatchThatWasJoined_isListedAgainForANewReference() {
        ObjectKey key = ObjectKey.of("default", "secret-1");
        PodKey pod = PodKey.of("default", "pod", "uid-1");
        WatchWorld world = new WatchWorld(true);
        world.addReference(key, pod);
        world.addReference(key, pod);
        world.resetWatches();
        world.write(key, true);
        world.passTime(Duration.ofMillis(250));
        world.addReference(key, pod);
        world.check();
        world.end();
    }

    @Provide
    Arbitrary<List<WatchStep>> histories() {
        return Arbitraries.frequencyOf(
                        Tuple.of(8, keys().map(key -> step("get " + key, world -> world.get(key)))),
                        Tuple.of(4, references("refer", WatchWorld::addReference)),
                        Tuple.of(2, references("release", WatchWorld::deleteReference)),
                        Tuple.of(4, keys().map(key -> step("write " + key, world -> world.write(key, false)))),
                        Tuple.of(1, keys().map(key -> step("write immutable " + key, world -> world.write(key, true)))),
                        Tuple.of(1, keys().map(key -> step("delete " + key, world -> world.delete(key)))),
                        Tuple.of(3, times().map(time -> step("pass " + time, world -> world.passTime(time)))),
                        Tuple.of(2, failures()),
                        Tuple.of(2, Arbitraries.just(step("reset watches", WatchWorld::resetWatches))),
                        Tuple.of(1, Arbitraries.just(step("forget history", WatchWorld::forgetHistory))))
                .list()
                .ofMaxSize(60);
    }

    private static WatchStep step(String text, Consumer<WatchWorld> action) {
        return new WatchStep(text, action);
    }

    private static Arbitrary<ObjectKey> keys() {
        return Arbitraries.integers().between(1, 3).map(i -> ObjectKey.of("default", "secret-" + i));
    }

    private interface WatchReferenceChange {
        void apply(WatchWorld world, ObjectKey key, PodKey pod);
    }

    private static Arbitrary<WatchStep> references(String verb, WatchReferenceChange change) {
        Arbitrary<PodKey> pods = Arbitraries.integers().between(1, 3).map(i -> PodKey.of("default", "pod", "uid-" + i));
        return Combinators.combine(keys(), pods)
                .as((key, pod) -> step(verb + " " + key + " for " + pod, world -> change.apply(world, key, pod)));
    }

    private static Arbitrary<WatchStep> failures() {
        Arbitrary<FailureReason> reasons = Arbitraries.of(
                FailureReason.UNAVAILABLE,
                FailureReason.FORBIDDEN,
                FailureReason.THROTTLED,
                FailureReason.EXPIRED,
                FailureReason.UNREADABLE);
        return Combinators.combine(
                        Arbitraries.of(Verb.LIST, Verb.WATCH, Verb.GET),
                        Arbitraries.integers().between(1, 4),
                        reasons)
                .as((verb, times, reason) ->
                        step("fail " + times + " " + verb + " " + reason, world -> world.fail(verb, times, reason)));
    }

    private static Arbitrary<Duration> times() {
        return Arbitraries.of(1L, 100L, 250L, 999L, 15_000L, 30_000L, 60_000L, 90_000L)
                .map(Duration::ofMillis);
    }
}
