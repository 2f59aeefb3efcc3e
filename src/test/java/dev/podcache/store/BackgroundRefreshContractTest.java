package dev.podcache.store;

import dev.podcache.metrics.PodcacheMetrics;
import java.time.Duration;

/** The contract under strategy CACHE with background refresh. */
class BackgroundRefreshContractTest extends FakeServerStoreContract {

    BackgroundRefreshContractTest() {
        super(TtlFixture.refreshingBehind(Duration.ofMinutes(1), PodcacheMetrics.NONE));
    }
}
