package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.apiserver.fabric8.ServerOnTime;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One request for each object where the server has streamed lists; a list and a watch where it has not. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class StreamedListRealServerTest {

    private static final int OBJECTS = 20;

    private final RealApiServer real = RealApiServer.restartable();
    private final boolean streams = real.version().streamsLists();
    private final String namespace = real.createNamespaceLike("streamed");
    private final KubernetesClient admin = real.client();
    private final KubernetesClient client = real.client();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private volatile String watched = ""; // the start of the names whose requests count
    private final AtomicInteger versions = new AtomicInteger();
    private final Fabric8ApiServer server =
            ServerOnTime.of(client, RequestLimit.DEFAULT, Timekeeper.system(), this::observed);
    private final Podcache cache = Podcache.builder(server)
            .strategy(ChangeDetectionStrategy.WATCH)
            .firstSyncTimeout(Duration.ofSeconds(60))
            .build();

    private void observed(ServerRequest request, int status) {
        boolean version = request.path().equals("/version");
        if (status == 0 && request.path().contains("metadata.name%3D" + watched)) {
            requests.add(request.path().contains("watch=true") ? "watch" : "list");
        } else if (status < 0 && version) {
            versions.incrementAndGet();
        }
    }

    @AfterEach
    void tearDown() {
        cache.close();
        server.close();
        client.close();
        admin.close();
    }

    @Test
    void objects_onceTheVersionIsKnown_takeAsFewRequestsAsTheServerAllows() {
        learnVersion();
        requests.clear();
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(read("db-" + i)).isEqualTo("db-" + i);
        }

        assertThat(requests).isEqualTo(expected(OBJECTS));
        assertThat(versions).hasValue(1);
        admin.resource(secret("db-7", "changed")).update();
        await().until(() -> value("db-7").equals("changed"));
        admin.resource(secret("db-7", "changed")).delete();
        await().until(() -> cache.secrets().findObject(namespace, "db-7").isEmpty());
        assertThat(requests).isEqualTo(expected(OBJECTS));
    }

    @Test
    void object_thatIsAbsent_isKnownToBeAndHeardOfWhenItIsCreated() {
        learnVersion();
        requests.clear();
        register("absent");

        assertThat(cache.secrets().findObject(namespace, "absent")).isEmpty();
        admin.resource(secret("absent", "there")).create();
        await().until(() -> cache.secrets().findObject(namespace, "absent").isPresent());
        assertThat(requests).isEqualTo(expected(1));
    }

    @Test
    void serverThatWasRestarted_isAskedForItsVersionAgain(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        learnVersion();
        int before = versions.get();
        real.apiServer().kill();
        real.apiServer().start();

        await().until(() -> {
            read("after-" + requests.size());
            return versions.get() > before;
        });
        requests.clear();
        watched = "again";
        read("again");

        assertThat(requests).isEqualTo(expected(1));
    }

    private List<String> expected(int objects) {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < objects; i++) {
            if (!streams) {
                expected.add("list");
            }
            expected.add("watch");
        }
        return expected;
    }

    private void learnVersion() {
        read("first");
        await().until(() -> versions.get() == 1);
    }

    private String read(String name) {
        if (admin.secrets().inNamespace(namespace).withName(name).get() == null) {
            admin.resource(secret(name, name)).create();
        }
        register(name);
        return value(name);
    }

    private void register(String name) {
        cache.registerPod(Pods.withSecrets(namespace, "pod-" + name, "uid-" + name, name));
    }

    private String value(String name) {
        return Secrets.value(cache.secrets().getObject(namespace, name));
    }

    private Secret secret(String name, String value) {
        return Secrets.of(ObjectKey.of(namespace, name), value);
    }
}
