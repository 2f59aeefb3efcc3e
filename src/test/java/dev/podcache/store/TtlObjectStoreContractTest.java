package dev.podcache.store;

import dev.podcache.testing.FakeSecretServer;
import dev.podcache.testing.StoreContract;

class TtlObjectStoreContractTest extends StoreContract {

    TtlObjectStoreContractTest() {
        super(FakeSecretServer::new, StoreContract::ttlStore);
    }
}
