package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * Puts, removals and lookups of several keys at once, some of whose names collide, in a table that is about to be
 * rebuilt, have the outcome of one of their orders.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:3")
public abstract class EntryTableOperations {

    /** The first three have one hash code. */
    private static final String[] NAMES = {"AaAa", "AaBB", "BBBB", "other"};

    private final Transitions<String> transitions;
    private final EntryTable<String, TtlEntry<String>> table;

    /** With so many that the next put rebuilds it. */
    protected EntryTableOperations(Timekeeper timekeeper) {
        transitions = new Transitions<>(StoreOptions.defaults(timekeeper));
        table = new EntryTable<>(ObjectKind.SECRET, this::entry, () -> {}, () -> {});
        for (int i = 0; i < 4; i++) {
            table.putIfAbsent(entry(ObjectKey.of("shop", "stays-" + i)));
        }
    }

    @Operation
    public boolean put(@Param(name = "key") int key) {
        return table.putIfAbsent(entry(ObjectKey.of("shop", NAMES[key])));
    }

    @Operation
    public boolean remove(@Param(name = "key") int key) {
        TtlEntry<String> there = table.find("shop", NAMES[key]);
        return there != null && table.remove(there);
    }

    @Operation
    public boolean find(@Param(name = "key") int key) {
        return table.find("shop", NAMES[key]) != null;
    }

    @Operation
    public boolean findWhatStays(@Param(name = "key") int key) {
        return table.find("shop", "stays-" + key) != null;
    }

    private TtlEntry<String> entry(ObjectKey key) {
        return new TtlEntry<>(key, transitions, 0, EarlyRefusals.NODE);
    }
}
