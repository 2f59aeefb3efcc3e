package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualTimekeeper;
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

/** Any sequence of changes, on names many of which collide, leaves in the table what a map would hold. */
class EntryTableProperties {

    private final Transitions<String> transitions = new Transitions<>(StoreOptions.defaults(new ManualTimekeeper()));

    record TableChange(boolean put, ObjectKey key) {}

    @Property
    void entries_anySequenceOfChanges_areThoseOfAMap(@ForAll("changes") @Size(max = 400) List<TableChange> changes) {
        EntryTable<String, TtlEntry<String>> table =
                new EntryTable<>(ObjectKind.SECRET, this::entry, () -> {}, () -> {});
        Map<ObjectKey, TtlEntry<String>> model = new HashMap<>();

        for (TableChange change : changes) {
            if (change.put()) {
                TtlEntry<String> candidate = entry(change.key());
                assertThat(table.putIfAbsent(candidate)).isEqualTo(model.putIfAbsent(change.key(), candidate) == null);
            } else {
                TtlEntry<String> held = model.remove(change.key());
                assertThat(table.remove(held == null ? entry(change.key()) : held))
                        .isEqualTo(held != null);
            }
            assertThat(table.find(change.key().namespace(), change.key().name()))
                    .isSameAs(model.get(change.key()));
        }

        List<TtlEntry<String>> visited = new ArrayList<>();
        table.forEach(visited::add);
        assertThat(visited).containsExactlyInAnyOrderElementsOf(model.values());
        assertThat(table.size()).isEqualTo(model.size());
    }

    private TtlEntry<String> entry(ObjectKey key) {
        return new TtlEntry<>(key, transitions, 0, EarlyRefusals.NODE);
    }

    @Provide
    Arbitrary<List<TableChange>> changes() {
        return Combinators.combine(Arbitraries.of(true, true, false), keys())
                .as(TableChange::new)
                .list();
    }

    private static Arbitrary<ObjectKey> keys() {
        Arbitrary<String> colliding =
                Arbitraries.of("Aa", "BB").list().ofSize(3).map(words -> String.join("", words));
        Arbitrary<String> spread = Arbitraries.integers().between(0, 60).map(i -> "n" + i);
        return Combinators.combine(Arbitraries.of("shop", "a", "Aa", "BB"), Arbitraries.oneOf(colliding, spread))
                .as(ObjectKey::of);
    }
}
