package dev.podcache.realserver;

import dev.podcache.testing.ApiServerChangeContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerVersion;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver: what it expects is what there is. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class ApiServerChangeContractRealServerTest extends ApiServerChangeContract {

    private final RawApi api =
            RawApi.of(RealApiServer.shared().url(), RealApiServer.shared().tls());

    @Override
    protected RawApi api() {
        return api;
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
