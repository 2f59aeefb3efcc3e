package dev.podcache.chaos;

/** Since when nothing goes wrong, in all and on the network alone. Thread-safe. */
final class Calm {

    private volatile long since;
    private volatile long networkSince;
    private volatile long serverUpToDateSince;

    /** A fault is about to strike; {@code network} if it is one of the network, {@code behind} if it makes the server lag. */
    void end(boolean network, boolean behind) {
        since = Version.UNKNOWN;
        if (network) {
            networkSince = Version.UNKNOWN;
        }
        if (behind) {
            serverUpToDateSince = Version.UNKNOWN;
        }
    }

    /** The last fault of the network is over. */
    void networkBegins(long now) {
        networkSince = now;
    }

    /** The server itself is behind until then. */
    void behindUntil(long then) {
        serverUpToDateSince = then;
    }

    /** The last fault is over. Calm is from when the server is up to date again. */
    void begin(long now) {
        since = Math.max(now, serverUpToDateSince);
    }

    /** For how long there was calm at {@code now}; negative if there was none. */
    long lengthAt(long now) {
        return now - since;
    }

    /** Since when nothing goes wrong on the network; {@link Version#UNKNOWN} if something does. */
    long networkSince() {
        return networkSince;
    }

    /** Whether what the server answers may be old, through no fault of a cache. */
    boolean isServerBehind(long now) {
        return now < serverUpToDateSince;
    }
}
