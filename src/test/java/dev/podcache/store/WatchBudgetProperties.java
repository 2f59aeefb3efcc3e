package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.StatusException;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * Two watched kinds that share a payload budget, in any history: the budget is never exceeded by more than one object,
 * and each get returns what the server has.
 */
class WatchBudgetProperties {

    private static final int BUDGET = 5_000;
    private static final int LARGEST = 6_000;
    private static final PodKey POD = PodKey.of("default", "web", "uid");

    private record BudgetStep(String text, Consumer<BudgetWorld> action) {
        @Override
        public String toString() {
            return text;
        }
    }

    /** One kind's store, and what is referenced in it. */
    private static final class BoundedKind<T extends HasMetadata> {
        final WatchObjectStore<T> store;
        final Set<ObjectKey> referenced = new HashSet<>();

        BoundedKind(ObjectKind<T> kind, FakeApiServer server, StoreOptions options) {
            this.store = new WatchObjectStore<>(
                    kind,
                    key -> server.listerWatcher(kind, key.namespace(), "metadata.name=" + key.name()),
                    server.getter(kind),
                    options,
                    new WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(1)));
        }

        List<Integer> held() {
            return referenced.stream()
                    .map(store::known)
                    .map(known -> known == null ? 0 : known.bytes())
                    .toList();
        }
    }

    private static final class BudgetWorld {
        final ManualTimekeeper time = ManualTimekeeper.passingWhileWaiting();
        final FakeApiServer server = new FakeApiServer(time);
        final StoreOptions options = new StoreOptions(
                time, Duration.ofSeconds(10), PayloadBudget.ofBytes(BUDGET, time), PodcacheMetrics.NONE);
        final List<BoundedKind<?>> kinds = List.of(
                new BoundedKind<>(ObjectKind.SECRET, server, options),
                new BoundedKind<>(ObjectKind.CONFIG_MAP, server, options));

        void refer(int kind, ObjectKey key) {
            kinds.get(kind).referenced.add(key);
            kinds.get(kind).store.addReference(key, POD);
        }

        void release(int kind, ObjectKey key) {
            kinds.get(kind).store.deleteReference(key, POD);
            if (kinds.get(kind).store.state(key).references() == 0) {
                kinds.get(kind).referenced.remove(key);
            }
        }

        void write(int kind, ObjectKey key, int size, boolean immutable) {
            HasMetadata before = atServer(kind, key);
            if (before == null) {
                server.cluster().create(model(kind, key, size, immutable));
            } else if (!isImmutable(before)) {
                server.cluster().update(model(kind, key, size, immutable));
            }
        }

        void delete(int kind, ObjectKey key) {
            HasMetadata there = atServer(kind, key);
            if (there != null && !isImmutable(there)) {
                server.cluster().delete(there);
            }
        }

        void get(int kind, ObjectKey key) {
            HasMetadata there = atServer(kind, key);
            try {
                ObjectMeta got =
                        kinds.get(kind).store.get(key.namespace(), key.name()).getMetadata();
                assertThat(got.getResourceVersion())
                        .isEqualTo(
                                there == null ? "absent" : there.getMetadata().getResourceVersion());
            } catch (NotFound e) {
                assertThat(there).isNull();
            } catch (NotRegistered e) {
                assertThat(kinds.get(kind).referenced).doesNotContain(key);
            }
        }

        private @Nullable HasMetadata atServer(int kind, ObjectKey key) {
            try {
                return server.cluster().get(kinds.get(kind).store.kind().model(), key.namespace(), key.name());
            } catch (StatusException absent) {
                return null;
            }
        }

        void check() {
            List<Integer> held =
                    kinds.stream().flatMap(kind -> kind.held().stream()).toList();
            assertThat(held.stream().mapToInt(Integer::intValue).sum())
                    .as("bytes held: %s", held)
                    .isLessThanOrEqualTo(BUDGET);
        }

        void end() {
            for (BoundedKind<?> kind : kinds) {
                kind.store.close();
            }
            // the sweep notices that there is nothing left to sweep
            time.advance(Duration.ofSeconds(2));
            assertThat(server.openWatches()).isZero();
            assertThat(time.scheduledTasks()).isZero();
            server.close();
        }
    }

    private static boolean isImmutable(HasMetadata object) {
        return object.getMetadata().getLabels().containsKey("immutable");
    }

    private static HasMetadata model(int kind, ObjectKey key, int size, boolean immutable) {
        String text = "x".repeat(size);
        HasMetadata made = kind == 0
                ? new SecretBuilder()
                        .withNewMetadata()
                        .endMetadata()
                        .addToStringData("value", text)
                        .withImmutable(immutable ? true : null)
                        .build()
                : new ConfigMapBuilder()
                        .withNewMetadata()
                        .endMetadata()
                        .addToData("value", text)
                        .withImmutable(immutable ? true : null)
                        .build();
        made.getMetadata().setNamespace(key.namespace());
        made.getMetadata().setName(key.name());
        made.getMetadata().getLabels().put(immutable ? "immutable" : "mutable", "yes");
        return made;
    }

    @Property
    void anyHistory_staysWithinTheBudgetAndReturnsWhatTheServerHas(@ForAll("histories") List<BudgetStep> history) {
        BudgetWorld world = new BudgetWorld();
        for (BudgetStep step : history) {
            step.action().accept(world);
            world.check();
        }
        world.end();
    }

    @Provide
    Arbitrary<List<BudgetStep>> histories() {
        return Arbitraries.frequencyOf(
                        Tuple.of(8, ofObject("get", BudgetWorld::get)),
                        Tuple.of(6, ofObject("refer", BudgetWorld::refer)),
                        Tuple.of(2, ofObject("release", BudgetWorld::release)),
                        Tuple.of(6, writes(false)),
                        Tuple.of(1, writes(true)),
                        Tuple.of(1, ofObject("delete", BudgetWorld::delete)),
                        Tuple.of(2, times()))
                .list()
                .ofMaxSize(60);
    }

    private interface ObjectAction {
        void accept(BudgetWorld world, int kind, ObjectKey key);
    }

    private static Arbitrary<Integer> kinds() {
        return Arbitraries.integers().between(0, 1);
    }

    private static Arbitrary<ObjectKey> keys() {
        return Arbitraries.integers().between(1, 5).map(i -> ObjectKey.of("default", "object-" + i));
    }

    private static Arbitrary<BudgetStep> ofObject(String verb, ObjectAction action) {
        return Combinators.combine(kinds(), keys())
                .as((kind, key) ->
                        new BudgetStep(verb + " " + kind + " " + key, world -> action.accept(world, kind, key)));
    }

    private static Arbitrary<BudgetStep> writes(boolean immutable) {
        return Combinators.combine(kinds(), keys(), Arbitraries.integers().between(0, LARGEST))
                .as((kind, key, size) -> new BudgetStep(
                        "write " + kind + " " + key + " of " + size + (immutable ? ", immutable" : ""),
                        world -> world.write(kind, key, size, immutable)));
    }

    private static Arbitrary<BudgetStep> times() {
        return Arbitraries.of(100L, 1_000L, 30_000L, 90_000L)
                .map(millis -> new BudgetStep(
                        "pass " + millis + " ms", world -> world.time.advance(Duration.ofMillis(millis))));
    }
}
