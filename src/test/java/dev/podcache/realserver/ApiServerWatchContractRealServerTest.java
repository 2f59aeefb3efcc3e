package dev.podcache.realserver;

import dev.podcache.testing.ApiServerWatchContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver: what it expects is what there is. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class ApiServerWatchContractRealServerTest extends ApiServerWatchContract {

    private final RawApi api =
            RawApi.of(RealApiServer.shared().url(), RealApiServer.shared().tls());
    private @Nullable RealApiServer own;

    @Override
    protected RawApi api() {
        return api;
    }

    @Override
    protected RawApi forgetfulApi() {
        // a server forgets when it restarts
        RealApiServer server = RealApiServer.start();
        own = server;
        server.kubectl("create", "secret", "generic", "any");
        server.apiServer().kill();
        server.apiServer().start();
        return RawApi.of(server.url(), server.tls());
    }

    @AfterEach
    void closeOwn() {
        if (own != null) {
            own.close();
        }
    }
}
