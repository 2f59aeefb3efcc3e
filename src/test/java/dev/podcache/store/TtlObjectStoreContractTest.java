package dev.podcache.store;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
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
    protected Server server() {
        return new Server() {
            @Override
            public void createNamespace(String name) {
                f.server
                        .cluster()
                        .create(new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(name)
                                .endMetadata()
                                .build());
            }

            @Override
            public void put(Secret secret) {
                try {
                    f.server.cluster().create(secret);
                } catch (dev.podcache.embedded.StatusException exists) {
                    f.server.cluster().update(secret);
                }
            }

            @Override
            public void delete(Secret secret) {
                f.server.cluster().delete(secret);
            }
        };
    }
}
