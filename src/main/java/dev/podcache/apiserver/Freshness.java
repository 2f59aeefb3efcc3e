package dev.podcache.apiserver;

/**
 * How new an answer must be. A final class with constants rather than an enum, because "not older than
 * version v" will be one of its values. Immutable.
 */
public final class Freshness {

    /** What the API server has in its own cache, which may be behind (resourceVersion "0"). Cheap for the server. */
    public static final Freshness CACHED = new Freshness("CACHED");

    /** The latest committed state: a quorum read (no resourceVersion). */
    public static final Freshness LATEST = new Freshness("LATEST");

    private final String name;

    private Freshness(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
