package dev.podcache.store;

import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The last reference goes while another comes: the entry is dropped, but still in the table, and the new reference
 * finds it there. An observer is called in just that moment, on the thread that drops.
 */
@ExtendWith(NoLeaks.class)
class ReferenceWhileDroppingTest {

    private final WatchFixture f = new WatchFixture();
    private boolean refers = true;

    @BeforeEach
    void referWhenDropped() {
        f.store.observe(key -> {
            if (f.store.known(key) == null && refers) {
                refers = false;
                f.store.addReference(DB, OTHER_POD);
            }
        });
    }

    @AfterEach
    void close() {
        refers = false;
        f.close();
    }

    @Test
    void newReference_getsAnEntryOfItsOwn_thatTheDroppingLeavesAlone() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.store.deleteReference(DB, POD);
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).references()).isEqualTo(1);
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    void newReferenceDeletedAgain_nothingIsLeft() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.store.deleteReference(DB, POD);
        f.store.deleteReference(DB, OTHER_POD);

        f.requireNothingHeld();
    }
}
