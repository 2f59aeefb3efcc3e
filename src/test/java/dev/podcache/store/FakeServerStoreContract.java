package dev.podcache.store;

import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a server without HTTP. */
@ExtendWith(NoLeaks.class)
abstract class FakeServerStoreContract extends StoreContract {

    private final StoreFixture<?> f;

    FakeServerStoreContract(StoreFixture<?> f) {
        this.f = f;
    }

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
        return new ClusterOfFake(f.server.cluster());
    }

    private record ClusterOfFake(InMemoryCluster cluster) implements SecretServer {

        @Override
        public void createNamespace(String name) {
            cluster.create(new NamespaceBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .endMetadata()
                    .build());
        }

        @Override
        public void put(Secret secret) {
            try {
                cluster.create(secret);
            } catch (StatusException exists) {
                cluster.update(secret);
            }
        }

        @Override
        public void delete(Secret secret) {
            cluster.delete(secret);
        }
    }
}
