package dev.podcache.embedded;

import dev.podcache.testing.AccessContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.time.Timekeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The embedded server with Roles decides as a kube-apiserver does. */
@ExtendWith(NoLeaks.class)
class EmbeddedAccessContractTest extends AccessContract {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();
    private final RawApi api = apiAs("admin", "system:masters");

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

    @Override
    protected RawApi apiAs(String name, String... groups) {
        return RawApi.of(server.url()).with("Authorization", "Bearer " + server.tokenFor(name, groups));
    }
}
