package dev.podcache.embedded;

import dev.podcache.testing.ApiServerWatchContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The embedded server answers as a kube-apiserver does. */
@ExtendWith(NoLeaks.class)
class EmbeddedApiServerWatchContractTest extends ApiServerWatchContract {

    private final OwnServer server = new OwnServer();
    private final RawApi api = server.api();

    @AfterEach
    void stop() {
        server.close();
    }

    @Override
    protected RawApi api() {
        return api;
    }

    @Override
    protected boolean streamsLists() {
        return true;
    }

    @Override
    protected RawApi forgetfulApi() {
        server.cluster().forgetHistory();
        return api;
    }
}
