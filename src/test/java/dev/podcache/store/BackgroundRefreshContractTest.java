package dev.podcache.store;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a server without HTTP, with background refresh. */
@ExtendWith(NoLeaks.class)
class BackgroundRefreshContractTest extends StoreContract {

    private final TtlFixture f = TtlFixture.refreshingBehind(Duration.ofMinutes(1), PodcacheMetrics.NONE);

    @Override
    protected Store<Secret> store() {
        return f.store;
    }

    @Override
    protected void closeStore() {
        f.close();
    }

    @Override
    protected SecretServer server() {
        return new FakeContractServer(f.server.cluster());
    }
}
