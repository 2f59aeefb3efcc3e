package dev.podcache.store;

/**
 * How often a store has changed what it holds in memory, since it was made.
 *
 * @param updates objects taken into memory, and objects replaced by another version
 * @param evictions objects that the payload budget took out of memory
 */
public record ChangeCounts(long updates, long evictions) {

    /** The counts of a store that holds nothing. */
    public static final ChangeCounts NONE = new ChangeCounts(0, 0);

    /** Returns the sum of both. */
    public ChangeCounts plus(ChangeCounts other) {
        return new ChangeCounts(updates + other.updates, evictions + other.evictions);
    }
}
