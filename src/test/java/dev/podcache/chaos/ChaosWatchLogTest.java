package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is known of watches, and the budget of lists and watches. Times are in seconds. */
class ChaosWatchLogTest {

    private final World world = new World("chaos");
    private final Claims claims = new Claims();
    private final CachedObject db = world.subjects.get(0);

    ChaosWatchLogTest() {
        world.watches.of(claims);
        claims.added(List.of(db), seconds(10), seconds(10));
    }

    @Test
    void requests_ofAnObjectThatIsRetriedWithPauses_areFine() {
        for (int i = 0; i < WatchLog.REQUESTS_IN_A_WINDOW; i++) {
            world.watches.requested(db, seconds(20 + i * 0.05));
        }

        assertThat(shapes()).isEmpty();
    }

    @Test
    void requests_moreThanPausesAllow_breakP3() {
        for (int i = 0; i <= WatchLog.REQUESTS_IN_A_WINDOW; i++) {
            world.watches.requested(db, seconds(20 + i * 0.05));
        }

        assertThat(shapes()).containsExactly(Shape.TOO_MANY_REQUESTS);
    }

    @Test
    void requests_soonAfterANewReference_areFine() {
        claims.added(List.of(db), seconds(19.5), seconds(19.5));
        for (int i = 0; i <= WatchLog.REQUESTS_IN_A_WINDOW; i++) {
            world.watches.requested(db, seconds(20 + i * 0.02));
        }

        assertThat(shapes()).isEmpty();
    }

    @Test
    void requests_whichAreListsAndWatchesByName_areSeenAsTheyLeave() {
        Witness witness = new Witness(world, new FetchRules(world, Rules.watch(Rules.Transport.HTTP2), claims));
        String listOrWatch = world.collectionPath(db.kind()) + "?fieldSelector=metadata.name%3D" + db.name();
        for (int i = 0; i <= WatchLog.REQUESTS_IN_A_WINDOW; i++) {
            URI uri = URI.create("http://server" + listOrWatch + "&" + (i % 2 == 0 ? "limit=500" : "watch=true"));
            witness.leaves(UUID.randomUUID(), uri, seconds(20 + i * 0.05));
        }

        assertThat(shapes()).containsExactly(Shape.TOO_MANY_REQUESTS);
    }

    @Test
    void lostAt_whileAWatchIsOpen_isUnknown() {
        world.watches.accepted(db);
        world.watches.accepted(db);
        world.watches.ended(db, seconds(22));

        assertThat(world.watches.open(db)).isEqualTo(1);
        assertThat(world.watches.lostAt(db)).isEqualTo(Version.UNKNOWN);
    }

    @Test
    void lostAt_afterTheLastEndedOrTheServerDied_isThen() {
        world.watches.accepted(db);
        world.watches.ended(db, seconds(22));
        assertThat(world.watches.lostAt(db)).isEqualTo(seconds(22));
        world.watches.accepted(db);
        world.watches.allEnded(seconds(24));

        assertThat(world.watches.lostAt(db)).isEqualTo(seconds(24));
        assertThat(world.watches.open(db)).isZero();
    }

    @Test
    void refused_watchThatCountedAsAccepted_changesNothing() {
        world.watches.accepted(db);
        world.watches.ended(db, seconds(22));
        world.watches.accepted(db);
        world.watches.refused(db);

        assertThat(world.watches.open(db)).isZero();
        assertThat(world.watches.lostAt(db)).isEqualTo(seconds(22));
    }

    private List<Shape> shapes() {
        return world.violations.findings().stream().map(Finding::shape).toList();
    }

    private static long seconds(double s) {
        return Duration.ofMillis(Math.round(s * 1_000)).toNanos();
    }
}
