package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** Changes of an object are reported in the order in which they happened, whichever threads made them. */
class ChangeOrderConcurrencyTest {

    private static final int ROUNDS = 10_000;

    private record StateChange(CacheState from, CacheState to) {}

    @Test
    void changed_byTwoThreads_isReportedInOrder() throws Exception {
        List<StateChange> reported = Collections.synchronizedList(new ArrayList<>());
        PodcacheMetrics metrics = new PodcacheMetrics() {
            @Override
            public void changed(ObjectKind<?> kind, ObjectKey key, CacheState from, CacheState to, String cause) {
                reported.add(new StateChange(from, to));
            }
        };
        try (TtlFixture f = TtlFixture.reportingTo(metrics)) {
            f.create(DB, "v1");
            f.store.addReference(DB, POD);
            CyclicBarrier together = new CyclicBarrier(2);
            Thread referring = new Thread(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    await(together);
                    f.store.addReference(DB, OTHER_POD);
                    f.store.deleteReference(DB, OTHER_POD);
                }
            });
            referring.start();
            for (int i = 0; i < ROUNDS; i++) {
                f.get();
                await(together);
                f.get();
            }
            referring.join();
        }
        CacheState known = CacheState.UNREAD;
        for (StateChange change : List.copyOf(reported)) {
            assertThat(change.from).isEqualTo(known);
            known = change.to;
        }
        assertThat(reported).hasSizeGreaterThan(ROUNDS);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
