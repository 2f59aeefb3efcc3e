package dev.podcache.embedded;

import dev.podcache.testing.ApiServerContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.time.Timekeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The embedded server answers as a kube-apiserver does. */
@ExtendWith(NoLeaks.class)
class EmbeddedApiServerContractTest extends ApiServerContract {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    private final RawApi api = RawApi.of(server.url());

    @AfterEach
    void stop() {
        server.close();
        cluster.close();
        timekeeper.close();
    }

    @Override
    protected RawApi api() {
        return api;
    }
}
