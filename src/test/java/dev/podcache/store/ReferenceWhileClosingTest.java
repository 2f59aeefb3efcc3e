package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The store is closed after a reference found it open, and before the entry for it is in the table, so that closing
 * sees no entry: an entry asks for the time when it is made, which is that moment.
 */
@ExtendWith(NoLeaks.class)
class ReferenceWhileClosingTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ClosesTheStore closing = new ClosesTheStore();
    private final FakeApiServer server = new FakeApiServer(time);
    private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
            server.getter(ObjectKind.SECRET),
            StoreOptions.defaults(closing),
            WatchObjectStore.WatchTimes.DEFAULT);

    private final class ClosesTheStore extends ForwardingTimekeeper {

        private boolean armed;

        ClosesTheStore() {
            super(time);
        }

        @Override
        public long nanoTime() {
            if (armed) {
                armed = false;
                store.close();
            }
            return super.nanoTime();
        }
    }

    @Test
    void newReference_isRefusedAndLeavesNothing() {
        closing.armed = true;

        assertThatThrownBy(() -> store.addReference(DB, POD))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(closing.armed).isFalse();
        assertThat(store.size()).isZero();
        assertThat(server.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
        server.close();
    }
}
