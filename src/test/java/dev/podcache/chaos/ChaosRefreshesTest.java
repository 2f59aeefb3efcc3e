package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The run complains of refreshes that break P3, and of no other requests. Times are in seconds. */
class ChaosRefreshesTest {

    private final World world = new World("chaos");
    private final Claims claims = new Claims();
    private final Refreshes refreshes = new Refreshes(world, claims);
    private final Subject db = world.subjects.get(0);
    private final Subject cert = world.subjects.get(1);

    ChaosRefreshesTest() {
        register(10);
    }

    @Test
    void refresh_beforeTheTtlIsOver_breaksP3() {
        refresh(db, 20);
        refresh(db, 21.9);

        assertThat(world.violations.described()).singleElement().asString().startsWith("P3 of " + db + " is broken");
    }

    @Test
    void refresh_whenTheTtlIsOver_isFine() {
        refresh(db, 20);
        refresh(db, 22);

        assertThat(world.violations.described()).isEmpty();
    }

    @Test
    void refresh_afterOneThatFailed_isFine() {
        refresh(db, 20);
        refreshes.failed(ObjectKind.SECRET.path(ObjectKey.of("chaos", db.name())));
        refresh(db, 21);

        assertThat(world.violations.described()).isEmpty();
    }

    @Test
    void refresh_afterANewReference_isFine() {
        refresh(db, 20);
        register(20.5);
        refresh(db, 21);

        assertThat(world.violations.described()).isEmpty();
    }

    @Test
    void refresh_thatMayHaveBegunBeforeANewReference_doesNotCount() {
        register(18);
        refresh(db, 20);
        refresh(db, 21);

        assertThat(world.violations.described()).isEmpty();
    }

    @Test
    void refresh_ofAnotherObject_isFine() {
        refresh(db, 20);
        refresh(cert, 21);

        assertThat(world.violations.described()).isEmpty();
    }

    @Test
    void request_thatAsksForTheLatest_isNoRefresh() {
        refresh(db, 20);
        refreshes.leaves(URI.create("http://server" + world.path(db)), seconds(21));

        assertThat(world.violations.described()).isEmpty();
    }

    private void register(double at) {
        claims.added(List.of(db, cert), seconds(at));
    }

    private void refresh(Subject subject, double at) {
        refreshes.leaves(URI.create("http://server" + world.path(subject) + "?resourceVersion=0"), seconds(at));
    }

    private static long seconds(double s) {
        return Duration.ofMillis(Math.round(s * 1_000)).toNanos();
    }
}
