package dev.podcache.store;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract with one watch for each namespace, on a server without HTTP. */
@ExtendWith(NoLeaks.class)
class NamespaceScopeContractTest extends StoreContract {

    private final WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper());

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
