package dev.podcache.testing;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.embedded.StatusException;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;

/** The {@link FakeApiServer}, in real time. */
public final class FakeSecretServer implements SecretServer {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private int namespaces;

    @Override
    public String newNamespace() {
        namespaces++;
        String name = "shop-" + namespaces;
        server.cluster()
                .create(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build());
        return name;
    }

    @Override
    public Secret put(Secret secret) {
        try {
            return server.cluster().create(secret);
        } catch (StatusException exists) {
            return server.cluster().update(secret);
        }
    }

    @Override
    public void delete(ObjectKey key) {
        server.cluster()
                .delete(new SecretBuilder()
                        .withNewMetadata()
                        .withNamespace(key.namespace())
                        .withName(key.name())
                        .endMetadata()
                        .build());
    }

    @Override
    public ObjectGetter<Secret> getter() {
        return server.getter(ObjectKind.SECRET);
    }

    @Override
    public Timekeeper timekeeper() {
        return timekeeper;
    }

    @Override
    public void close() {
        server.close();
        timekeeper.close();
    }
}
