package dev.podcache.cli.demo;

import java.time.Duration;

/**
 * When the acts of the demo begin. Each has the time that it needs at least, because a cached object is asked
 * for again only after its TTL, and a share of what is left, up to a minute in all. If there is too little
 * time, all is compressed alike.
 */
final class DemoSchedule {

    /**
     * The acts in their order, with the time before each: at least, in milliseconds; in TTLs;
     * and its share of what is left.
     */
    enum Act {
        ROTATION(400, 0, 0.10),
        ARRIVAL(200, 0, 0.18),
        DEPARTURE(200, 0, 0.12),
        DELETION(100, 0, 0.10),
        RETURN(300, 1, 0.14),
        FAILURE(300, 0, 0.12),
        RECOVERY(500, 1, 0.03),
        LONGER_TTL(1500, 0, 0.12),
        END(800, 0, 0.09);

        private final int leastMillis;
        private final int ttls;
        private final double share;

        Act(int leastMillis, int ttls, double share) {
            this.leastMillis = leastMillis;
            this.ttls = ttls;
            this.share = share;
        }
    }

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final Duration length;
    private final int ttlSeconds;

    private DemoSchedule(Duration length, int ttlSeconds) {
        this.length = length;
        this.ttlSeconds = ttlSeconds;
    }

    /** A demo of that length, or of a minute if that is shorter. */
    static DemoSchedule of(Duration wanted) {
        Duration length = wanted.compareTo(LONGEST) < 0 ? wanted : LONGEST;
        return new DemoSchedule(length, (int) Math.max(1, Math.min(3, length.toSeconds() / 20)));
    }

    /** The same acts in what is left of the time after {@code spent}. */
    DemoSchedule shortenedBy(Duration spent) {
        return new DemoSchedule(length.compareTo(spent) > 0 ? length.minus(spent) : Duration.ZERO, ttlSeconds);
    }

    /** How long it plays. */
    Duration length() {
        return length;
    }

    /** The TTL to write on the Node, in seconds: short enough for something to happen within the demo. */
    int ttlSeconds() {
        return ttlSeconds;
    }

    /** How long after the beginning the act begins. */
    Duration begin(Act act) {
        double least = 0;
        double before = 0;
        double share = 0;
        for (Act each : Act.values()) {
            double needs = each.leastMillis + 1000.0 * each.ttls * ttlSeconds;
            least += needs;
            if (each.compareTo(act) <= 0) {
                before += needs;
                share += each.share;
            }
        }
        double spare = length.toMillis() - least;
        double millis = spare >= 0 ? before + share * spare : before * length.toMillis() / least;
        return Duration.ofMillis(Math.round(millis));
    }
}
