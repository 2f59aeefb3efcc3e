package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A namespace that may not be listed or watched falls back to a watch for each object. */
@ExtendWith(NoLeaks.class)
class RefusedNamespaceTest {

    private static final ObjectKey CERT = ObjectKey.of("default", "cert");

    private final WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper());

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void listRefused_eachObjectIsWatchedByName_andItsStateSaysSo() {
        f.create(DB, "v1");
        f.create(CERT, "c1");
        f.refuse(Verb.LIST, 1);
        f.store.addReference(DB, POD);
        f.store.addReference(CERT, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.server.isWatched(CERT)).isTrue();
        assertThat(f.server.openWatches()).isEqualTo(2);
        assertThat(f.store.state(DB).freshness())
                .isEqualTo("watched; watched by name, because the watch of the namespace was refused");
        f.update(DB, "v2");
        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void watchRefused_eachObjectIsWatchedByName() {
        f.create(DB, "v1");
        f.refuse(Verb.WATCH, 1);
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.isWatched(DB)).isTrue();
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void readOfAMemberRefused_eachObjectIsWatchedByName() {
        f.live("v1");
        f.create(CERT, "c1");
        f.refuse(Verb.LIST, 1);
        f.store.addReference(CERT, POD);

        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.server.isWatched(CERT)).isTrue();
        assertThat(f.server.openWatches()).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings({"connection closed", "is watched by name instead"})
    void accessLostLater_whatIsKnownIsServedAndThenWatchedByName() {
        f.live("v1");
        f.server.failNext(
                1,
                new ApiServerException(FailureReason.FORBIDDEN, 403, null, "WATCH secrets was answered 403", null),
                RequestPattern.any().verb(Verb.WATCH));
        f.server.resetWatches();
        assertThat(f.get()).isEqualTo("v1");
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void afterTenMinutes_anObjectThatIsWatchedAnewTriesTheNamespaceAgain() {
        f.create(DB, "v1");
        f.create(CERT, "c1");
        f.refuse(Verb.LIST, 1);
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo("v1");
        f.timekeeper.advance(Duration.ofMinutes(10));

        f.store.addReference(CERT, POD);

        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThat(f.server.isWatched(ObjectKey.of("default", ""))).isTrue();
        assertThat(f.store.state(CERT).freshness()).isEqualTo("watched");
    }
}
