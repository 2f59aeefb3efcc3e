package dev.podcache.chaos;

/** Since when nothing goes wrong. Thread-safe. */
final class Calm {

    private volatile long since;

    /** A fault is about to strike. */
    void end() {
        since = Long.MAX_VALUE;
    }

    /** The last fault is over. */
    void begin(long now) {
        since = now;
    }

    /** For how long there was calm at {@code now}; negative if there was none. */
    long lengthAt(long now) {
        return now - since;
    }
}
