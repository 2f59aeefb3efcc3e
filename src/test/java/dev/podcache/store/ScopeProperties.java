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
 * One watch for each namespace against a model: any history of joins, leaves, gets, changes of referenced and other
 * objects, broken watches, forgotten history, lists whose answers are late, failures, refusals and passing time. The
 * promises are those of {@link WatchStoreProperties}; and there are never more watches than namespaces, unless one was
 * refused.
 */
class ScopeProperties {

    private record ScopeStep(String text, Consumer<ScopeWorld> action) {
        @Override
        public String toString() {
            return text;
        }
    }

    @Property
    void anyHistory_keepsThePromises(@ForAll("histories") List<ScopeStep> history) {
        run(history);
    }

    @Property
    void anyHistory_withRefusals_keepsThePromises(@ForAll("refusedHistories") List<ScopeStep> history) {
        run(history);
    }

    /** A reference has joined the watch. So what is immutable is watched on, and in doubt like any other when the watch is lost. */
    @Example
    void immutableObjectOfAWatchThatWasJoined_isServedWhileItIsInDoubt() {
        ObjectKey key = ObjectKey.of("default", "secret-1");
        PodKey pod = PodKey.of("default", "pod", "uid-1");
        ScopeWorld world = new ScopeWorld();
        world.write(key, false);
        world.addReference(key, pod);
        world.get(key);
        world.addReference(key, pod);
        world.write(key, true);
        world.get(key);
        world.fail(Verb.WATCH, 4, FailureReason.UNAVAILABLE);
        world.fail(Verb.LIST, 4, FailureReason.UNAVAILABLE);
        world.f.server.resetWatches();
        world.delete(key);
        world.write(key, false);
        world.addReference(key, pod);
        world.get(key);
        world.check();
        world.end();
    }

    private static void run(List<ScopeStep> history) {
        ScopeWorld world = new ScopeWorld();
        for (ScopeStep step : history) {
            step.action().accept(world);
            world.check();
        }
        world.end();
    }

    @Provide
    Arbitrary<List<ScopeStep>> histories() {
        return histories(
                FailureReason.UNAVAILABLE, FailureReason.THROTTLED, FailureReason.EXPIRED, FailureReason.UNREADABLE);
    }

    @Provide
    Arbitrary<List<ScopeStep>> refusedHistories() {
        return histories(FailureReason.FORBIDDEN, FailureReason.UNAVAILABLE);
    }

    private static Arbitrary<List<ScopeStep>> histories(FailureReason... reasons) {
        return Arbitraries.frequencyOf(
                        Tuple.of(8, keys().map(key -> step("get " + key, world -> world.get(key)))),
                        Tuple.of(5, references("refer", ScopeWorld::addReference)),
                        Tuple.of(3, references("release", ScopeWorld::deleteReference)),
                        Tuple.of(5, keys().map(key -> step("write " + key, world -> world.write(key, false)))),
                        Tuple.of(1, keys().map(key -> step("write immutable " + key, world -> world.write(key, true)))),
                        Tuple.of(2, keys().map(key -> step("delete " + key, world -> world.delete(key)))),
                        Tuple.of(3, times().map(time -> step("pass " + time, w -> w.f.timekeeper.advance(time)))),
                        Tuple.of(2, failures(reasons)),
                        Tuple.of(2, lists().map(key -> step("hold list of " + key, world -> world.holdNextList(key)))),
                        Tuple.of(2, Arbitraries.just(step("release lists", ScopeWorld::releaseLists))),
                        Tuple.of(2, Arbitraries.just(step("reset watches", world -> world.f.server.resetWatches()))),
                        Tuple.of(1, Arbitraries.just(step("forget history", world -> world.f.server.forgetHistory()))))
                .list()
                .ofMaxSize(60);
    }

    private static ScopeStep step(String text, Consumer<ScopeWorld> action) {
        return new ScopeStep(text, action);
    }

    private static Arbitrary<ObjectKey> keys() {
        return Combinators.combine(
                        Arbitraries.of("default", "kube-system"),
                        Arbitraries.integers().between(1, 3))
                .as((namespace, i) -> ObjectKey.of(namespace, "secret-" + i));
    }

    /** What a list may select: an object, or all of a namespace. */
    private static Arbitrary<ObjectKey> lists() {
        return Arbitraries.oneOf(
                keys(), Arbitraries.of("default", "kube-system").map(name -> ObjectKey.of(name, "")));
    }

    private interface ScopeReferenceChange {
        void apply(ScopeWorld world, ObjectKey key, PodKey pod);
    }

    private static Arbitrary<ScopeStep> references(String verb, ScopeReferenceChange change) {
        Arbitrary<PodKey> pods = Arbitraries.integers().between(1, 2).map(i -> PodKey.of("default", "pod", "uid-" + i));
        return Combinators.combine(keys(), pods)
                .as((key, pod) -> step(verb + " " + key + " for " + pod, world -> change.apply(world, key, pod)));
    }

    private static Arbitrary<ScopeStep> failures(FailureReason... reasons) {
        return Combinators.combine(
                        Arbitraries.of(Verb.LIST, Verb.WATCH, Verb.GET),
                        Arbitraries.integers().between(1, 4),
                        Arbitraries.of(reasons))
                .as((verb, times, reason) ->
                        step("fail " + times + " " + verb + " " + reason, world -> world.fail(verb, times, reason)));
    }

    private static Arbitrary<Duration> times() {
        return Arbitraries.of(1L, 10L, 250L, 999L, 15_000L, 30_000L, 60_000L, 90_000L, 600_000L)
                .map(Duration::ofMillis);
    }
}
