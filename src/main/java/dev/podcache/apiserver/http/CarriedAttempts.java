package dev.podcache.apiserver.http;

import java.util.ArrayList;
import java.util.List;

/**
 * The attempts that use a stream of one {@link Connection}. Each knows its place, which takes less memory than a hash
 * table. Confined to the event loop of the connection.
 */
final class CarriedAttempts {

    /** The place of an attempt that uses no stream. */
    static final int NOWHERE = -1;

    private final List<Exchange.Attempt> attempts = new ArrayList<>();

    int size() {
        return attempts.size();
    }

    void add(Exchange.Attempt attempt) {
        attempt.place = attempts.size();
        attempts.add(attempt);
    }

    /** Removes an attempt that was added. The last one takes its place. */
    void remove(Exchange.Attempt attempt) {
        Exchange.Attempt last = attempts.remove(attempts.size() - 1);
        if (!last.equals(attempt)) {
            attempts.set(attempt.place, last);
            last.place = attempt.place;
        }
        attempt.place = NOWHERE;
    }

    /** Returns all attempts, for a caller that ends them. */
    List<Exchange.Attempt> copy() {
        return List.copyOf(attempts);
    }
}
