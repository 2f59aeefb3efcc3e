package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** Any sequence of changes, on names many of which collide, leaves in the index what a map would hold. */
class EntryIndexProperties {

    record Change(boolean put, ObjectKey key) {}

    @Property
    void index_anySequenceOfChanges_holdsWhatAMapHolds(@ForAll("changes") @Size(max = 400) List<Change> changes) {
        EntryIndex<Indexed> index = new EntryIndex<>();
        Map<ObjectKey, Indexed> model = new HashMap<>();

        for (Change change : changes) {
            if (change.put()) {
                Indexed candidate = new Indexed(change.key());
                assertThat(index.putIfAbsent(candidate)).isEqualTo(model.putIfAbsent(change.key(), candidate) == null);
            } else {
                Indexed held = model.remove(change.key());
                assertThat(index.remove(held == null ? new Indexed(change.key()) : held))
                        .isEqualTo(held != null);
            }
            assertThat(index.find(change.key().namespace(), change.key().name()))
                    .isSameAs(model.get(change.key()));
        }

        List<Indexed> visited = new ArrayList<>();
        index.forEach(visited::add);
        assertThat(visited).containsExactlyInAnyOrderElementsOf(model.values());
        assertThat(index.size()).isEqualTo(model.size());
    }

    @Provide
    Arbitrary<List<Change>> changes() {
        Arbitrary<String> colliding =
                Arbitraries.of("Aa", "BB").list().ofSize(3).map(words -> String.join("", words));
        Arbitrary<String> spread = Arbitraries.integers().between(0, 60).map(i -> "n" + i);
        Arbitrary<ObjectKey> keys = Combinators.combine(
                        Arbitraries.of("shop", "a", "Aa", "BB"), Arbitraries.oneOf(colliding, spread))
                .as(ObjectKey::of);
        return Combinators.combine(Arbitraries.of(true, true, false), keys)
                .as(Change::new)
                .list();
    }
}
