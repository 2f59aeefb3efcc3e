package dev.podcache.testing;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.UUID;

/** A server that a client reaches: the test writes with the client, the store reads through the ports over it. */
public final class ClientSecretServer implements SecretServer {

    private final KubernetesClient client;
    private final Fabric8ApiServer server;

    /**
     * The server behind {@code client}.
     *
     * @param client closed with this
     */
    public ClientSecretServer(KubernetesClient client) {
        this.client = client;
        this.server = Fabric8ApiServer.of(client);
    }

    @Override
    public String newNamespace() {
        String name = "shop-" + UUID.randomUUID();
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
        return name;
    }

    @Override
    public Secret put(Secret secret) {
        boolean exists = client.resource(secret).get() != null;
        return exists
                ? client.resource(secret).update()
                : client.resource(secret).create();
    }

    @Override
    public void delete(ObjectKey key) {
        client.secrets().inNamespace(key.namespace()).withName(key.name()).delete();
    }

    @Override
    public ObjectGetter<Secret> getter() {
        return server.getter(ObjectKind.SECRET);
    }

    @Override
    public Timekeeper timekeeper() {
        return server.timekeeper();
    }

    @Override
    public void close() {
        server.close();
        client.close();
    }
}
