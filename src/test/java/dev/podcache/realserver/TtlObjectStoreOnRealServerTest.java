package dev.podcache.realserver;

import dev.podcache.testing.ClientSecretServer;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.StoreContract;

@RealServerTest
class TtlObjectStoreOnRealServerTest extends StoreContract {

    TtlObjectStoreOnRealServerTest() {
        super(() -> new ClientSecretServer(RealApiServer.shared().client()), StoreContract::ttlStore);
    }
}
