package dev.podcache.store;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a server without HTTP. */
@ExtendWith(NoLeaks.class)
class TtlObjectStoreContractTest extends StoreContract {

    private final TtlFixture f = new TtlFixture();

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
