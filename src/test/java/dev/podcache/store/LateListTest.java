package dev.podcache.store;

import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Strategy WATCH: a list whose watch nobody wants any more is answered after all. */
@ExtendWith(NoLeaks.class)
class LateListTest {

    private final WatchFixture f = new WatchFixture();
    private final HeldRequests held =
            f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.LIST));

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void lastReferenceDeleted_itsAnswerOpensNoWatch() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.store.deleteReference(DB, POD);
        held.release();

        f.requireRequests(1, 0);
        f.requireNothingHeld();
    }

    @Test
    void referredToAnew_itsAnswerIsNotWhatIsServed() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.store.deleteReference(DB, POD);
        f.update(DB, "v2");
        f.store.addReference(DB, POD);
        held.release();

        assertThat(f.get()).isEqualTo("v2");
        f.requireRequests(2, 1);
        assertThat(f.server.openWatches()).isEqualTo(1);
    }
}
