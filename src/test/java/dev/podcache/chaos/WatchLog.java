package dev.podcache.chaos;

import dev.podcache.chaos.Claims.Claim;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * What the HTTP client and the server know of the lists and watches of the cache of strategy WATCH, the only one that
 * makes any. The clock of P9 and the budget of P3 come from here, not from what the cache says of itself. Thread-safe.
 */
final class WatchLog {

    /** Attempts of one object are at least 100 ms, 200 ms, 400 ms apart; one of them is four requests at most. */
    static final int REQUESTS_IN_A_WINDOW = 16;

    private static final long WINDOW = Duration.ofSeconds(1).toNanos();

    private final World world;
    private final Map<CachedObject, WatchHistory> lines = new HashMap<>(); // guarded by this
    private Function<CachedObject, Claim> claims = subject -> new Claims().of(subject); // guarded by this

    /** What is known of one object. */
    private static final class WatchHistory {
        private final Deque<Long> requests = new ArrayDeque<>();
        private int open;
        private long lostAt;
    }

    WatchLog(World world) {
        this.world = world;
    }

    /** Whose lists and watches they are from now on. */
    synchronized void of(Claims newClaims) {
        claims = newClaims::of;
    }

    /** A list or a watch leaves. What a frozen connection holds reaches the server much later, all at once. */
    void requested(CachedObject subject, long now) {
        int requests;
        Claim claim;
        synchronized (this) {
            WatchHistory line = line(subject);
            line.requests.addLast(now);
            while (line.requests.getFirst() < now - WINDOW) {
                line.requests.removeFirst();
            }
            requests = line.requests.size();
            claim = claims.apply(subject);
        }
        boolean settled = claim.isHeld() && claim.epoch().returned < now - WINDOW;
        world.figures.most("WATCH requests for an object in a second", settled ? requests : 0);
        if (settled && requests > REQUESTS_IN_A_WINDOW) {
            world.violations.add(
                    Shape.TOO_MANY_REQUESTS,
                    subject,
                    requests + " lists and watches within " + RunTime.seconds(WINDOW));
        }
    }

    /** The server has accepted a watch. */
    synchronized void accepted(CachedObject subject) {
        line(subject).open++;
    }

    /** A watch is over, as far as the server knows. */
    synchronized void ended(CachedObject subject, long now) {
        WatchHistory line = line(subject);
        if (line.open > 0) {
            line.open--;
            line.lostAt = now;
        }
    }

    /** The watch that counted as accepted last was not. */
    synchronized void refused(CachedObject subject) {
        WatchHistory line = line(subject);
        if (line.open > 0) {
            line.open--;
        }
    }

    /** All watches are over: the server is dead. */
    synchronized void allEnded(long now) {
        for (WatchHistory line : lines.values()) {
            if (line.open > 0) {
                line.open = 0;
                line.lostAt = now;
            }
        }
    }

    /** How many watches of the object are open. */
    synchronized int open(CachedObject subject) {
        return line(subject).open;
    }

    /** Since when no watch of the object is open; {@link Version#UNKNOWN} while one is. */
    synchronized long lostAt(CachedObject subject) {
        WatchHistory line = line(subject);
        return line.open > 0 ? Version.UNKNOWN : line.lostAt;
    }

    private WatchHistory line(CachedObject subject) {
        return lines.computeIfAbsent(subject, key -> new WatchHistory());
    }
}
