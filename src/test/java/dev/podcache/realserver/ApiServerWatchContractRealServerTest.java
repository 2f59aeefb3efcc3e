package dev.podcache.realserver;

import dev.podcache.testing.ApiServerWatchContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerVersion;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver: what it expects is what there is. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class ApiServerWatchContractRealServerTest extends ApiServerWatchContract {

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

    @Override
    protected RawApi forgetfulApi() {
        // a server forgets when it restarts
        RealApiServer server = RealApiServer.restartable();
        server.kubectl("create", "secret", "generic", "any", "--namespace=" + server.createNamespaceLike("any"));
        server.apiServer().kill();
        server.apiServer().start();
        return RawApi.of(server.url(), server.tls());
    }
}
