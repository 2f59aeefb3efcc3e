package dev.podcache.store;

import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;

/** The cluster of a server without HTTP, for the store contract. */
record FakeContractServer(InMemoryCluster cluster) implements StoreContract.SecretServer {

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
