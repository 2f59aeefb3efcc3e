package dev.podcache.object;

/**
 * The consistency of a read: from the API server's watch cache, or a quorum read. A class with constants rather than an
 * enum, because "not older than version v" may become one of its values. Immutable.
 */
public final class ReadConsistency {

    /** A read from the API server's watch cache, which may lag (resourceVersion "0"). Cheap for the server. */
    public static final ReadConsistency CACHED = new ReadConsistency("CACHED");

    /** A quorum read of the latest committed state (no resourceVersion). */
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
