package dev.podcache.realserver;

import dev.podcache.testing.AccessContract;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.ServerVersion;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver: what it expects is what there is. */
@RealServerTest
@Needs(ServerFeature.RBAC)
@ExtendWith(NoLeaks.class)
class AccessContractRealServerTest extends AccessContract {

    private final RawApi api = apiAs("admin", "system:masters");

    @Override
    protected RawApi api() {
        return api;
    }

    @Override
    protected RawApi apiAs(String name, String... groups) {
        return RawApi.of(RealApiServer.shared().url(), RealApiServer.shared().tlsAs(name, groups));
    }

    @Override
    protected ServerVersion version() {
        return RealApiServer.shared().version();
    }

    @Override
    protected void createNamespace(String name) {
        RealApiServer.shared().createNamespace(name);
    }
}
