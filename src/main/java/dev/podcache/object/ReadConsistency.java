package dev.podcache.object;

/**
 * How new an answer must be. A final class with constants rather than an enum, because "not older than
 * version v" will be one of its values. Immutable.
 */
public final class ReadConsistency {

    /** What the API server has in its own cache, which may be behind (resourceVersion "0"). Cheap for the server. */
    public static final ReadConsistency CACHED = new ReadConsistency("CACHED");

    /** The latest committed state: a quorum read (no resourceVersion). */
    public static final ReadConsistency LATEST = new ReadConsistency("LATEST");

    private final String name;

    private ReadConsistency(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
