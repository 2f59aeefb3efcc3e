package dev.podcache.realserver;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.StoreContract;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract on a kube-apiserver, through the adapter. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class TtlObjectStoreOnRealServerTest extends StoreContract {

    private final KubernetesClient client = RealApiServer.shared().client();
    private final Fabric8ApiServer apiServer = Fabric8ApiServer.of(client);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            apiServer.getter(ObjectKind.SECRET),
            new OneMinute(),
            StoreOptions.defaults(apiServer.timekeeper()));

    @AfterEach
    void closeConnections() {
        apiServer.close();
        client.close();
    }

    @Override
    protected Store<Secret> store() {
        return store;
    }

    @Override
    protected void closeStore() {
        store.close();
    }

    @Override
    protected Server server() {
        return new Server() {
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
                if (client.resource(secret).get() == null) {
                    client.resource(secret).create();
                } else {
                    client.resource(secret).update();
                }
            }

            @Override
            public void delete(Secret secret) {
                client.resource(secret).delete();
            }
        };
    }

    private static final class OneMinute implements ObjectTtlSource {

        @Override
        public long ttlNanos() {
            return Duration.ofMinutes(1).toNanos();
        }

        @Override
        public String origin() {
            return "the test";
        }
    }
}
