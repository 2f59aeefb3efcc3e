package example;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.testkit.FakePodcache;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.util.Map;
import java.util.Set;

/** An API server in memory: prints its address and serves until it is ended, or with the argument "read" is read by {@link Reader}. */
final class Server {

    static final Secret SECRET = new SecretBuilder()
            .withNewMetadata()
            .withNamespace("shop")
            .withName("db-password")
            .endMetadata()
            .withData(Map.of("user", "cm9vdA=="))
            .build();

    static final ConfigMap SETTINGS = new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("shop")
            .withName("settings")
            .endMetadata()
            .withData(Map.of("color", "blue"))
            .build();

    private Server() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            cluster.create(new NamespaceBuilder().withNewMetadata().withName("shop").endMetadata().build());
            cluster.create(SECRET);
            cluster.create(SETTINGS);
            if (arguments.length > 0) {
                System.out.println(Reader.read(server.url()));
                return;
            }
            requireFakeWorks();
            System.out.println("serves " + server.url());
            Thread.currentThread().join();
        }
    }

    private static void requireFakeWorks() {
        try (FakePodcache fake = new FakePodcache()) {
            fake.put(SECRET);
            fake.register(() -> "this-program", Set.of(
                    ObjectRef.of(ObjectKind.SECRET, "shop", "db-password")));
            if (!fake.secrets().getObject("shop", "db-password").getData().equals(SECRET.getData())) {
                throw new IllegalStateException("the fake returned something else than it was given");
            }
        }
    }
}
