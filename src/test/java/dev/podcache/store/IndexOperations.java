package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * Puts, removals and lookups of several keys at once, some of whose names collide, in an index that is about to be
 * rebuilt, have the outcome of one of their orders.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:3")
public abstract class IndexOperations {

    /** The first three have one hash code. */
    private static final String[] NAMES = {"AaAa", "AaBB", "BBBB", "other"};

    private final EntryIndex<Indexed> index = new EntryIndex<>();

    /** With so many that the next put rebuilds it. */
    protected IndexOperations() {
        for (int i = 0; i < 4; i++) {
            index.putIfAbsent(new Indexed(ObjectKey.of("shop", "stays-" + i)));
        }
    }

    @Operation
    public boolean put(@Param(name = "key") int key) {
        return index.putIfAbsent(new Indexed(ObjectKey.of("shop", NAMES[key])));
    }

    @Operation
    public boolean remove(@Param(name = "key") int key) {
        Indexed there = index.find("shop", NAMES[key]);
        return there != null && index.remove(there);
    }

    @Operation
    public boolean find(@Param(name = "key") int key) {
        return index.find("shop", NAMES[key]) != null;
    }

    @Operation
    public boolean findWhatStays(@Param(name = "key") int key) {
        return index.find("shop", "stays-" + key) != null;
    }
}
