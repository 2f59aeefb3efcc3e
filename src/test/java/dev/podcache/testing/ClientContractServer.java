package dev.podcache.testing;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;

/** The API server of {@code client}, for the store contract. */
record ClientContractServer(KubernetesClient client) implements StoreContract.SecretServer {

    @Override
    public void createNamespace(String name) {
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    @Override
    public void put(Secret secret) {
        client.resource(secret).createOr(existing -> existing.update());
    }

    @Override
    public void delete(Secret secret) {
        client.resource(secret).delete();
    }
}
