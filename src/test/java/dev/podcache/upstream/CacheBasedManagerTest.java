package dev.podcache.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.Verb;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code pkg/kubelet/util/manager/cache_based_manager_test.go}, in its newest form. */
@ExtendWith(NoLeaks.class)
class CacheBasedManagerTest {

    private static final String NS = "ns1";

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final AtomicLong ttlNanos = new AtomicLong(Duration.ofMinutes(1).toNanos());
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET, server.getter(ObjectKind.SECRET), ttl(), StoreOptions.defaults(timekeeper));
    private final Manager<Secret> manager = Managers.caching(store, PodReferences::secretKeys);

    private ObjectTtlSource ttl() {
        return new ObjectTtlSource() {
            @Override
            public long ttlNanos() {
                return ttlNanos.get();
            }

            @Override
            public String origin() {
                return "set by the test";
            }
        };
    }

    @BeforeEach
    void createNamespace() {
        server.cluster()
                .create(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NS)
                        .endMetadata()
                        .build());
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    /** TestSecretStore: adding causes no request; only what is referred to is fetched. */
    @Test
    void secretStore() {
        create("name1", "name2");
        store.addReference(key("name1"), pod("uid1"));
        store.addReference(key("name2"), pod("uid2"));
        store.addReference(key("name1"), pod("uid1"));
        store.addReference(key("name1"), pod("uid3"));
        store.deleteReference(key("name1"), pod("uid1"));
        store.deleteReference(key("name2"), pod("uid2"));
        store.addReference(key("name3"), pod("uid3"));

        assertThat(server.count(Verb.GET)).isZero();

        assertThat(Secrets.value(store.get(NS, "name1"))).isEqualTo("v");
        assertThatThrownBy(() -> store.get(NS, "name2")).isInstanceOf(NotRegistered.class);
        assertThatThrownBy(() -> store.get(NS, "name3")).isInstanceOf(NotFound.class);
        assertThatThrownBy(() -> store.get(NS, "name4")).isInstanceOf(NotRegistered.class);
        assertThat(server.count(Verb.GET)).isEqualTo(2);
    }

    /** TestSecretStoreDeletingSecret: NotFound replaces a cached object. */
    @Test
    void secretStoreDeletingSecret() {
        ttlNanos.set(0);
        create("name");
        store.addReference(key("name"), pod("uid"));
        assertThat(Secrets.value(store.get(NS, "name"))).isEqualTo("v");

        server.cluster().delete(Secrets.of(key("name"), ""));

        assertThatThrownBy(() -> store.get(NS, "name")).isInstanceOf(NotFound.class);
    }

    /**
     * TestSecretStoreGetAlwaysRefresh: TTL 0, 100 gets at once over 10 objects. Upstream makes 100
     * requests one after the other; here gets share a fetch that began after they did, so there are at
     * least one for each object and at most 100.
     */
    @Test
    void secretStoreGetAlwaysRefresh() throws Exception {
        ttlNanos.set(0);
        refer(10);
        getAllAtOnce(100, 10);

        assertThat(server.count(Verb.GET)).isBetween(10, 100);
    }

    /** TestSecretStoreGetNeverRefresh: TTL 1 min, 100 gets over 10 objects are 10 requests. */
    @Test
    void secretStoreGetNeverRefresh() throws Exception {
        refer(10);
        getAllAtOnce(100, 10);

        assertThat(server.count(Verb.GET)).isEqualTo(10);
    }

    /** TestCustomTTL. */
    @Test
    void customTtl() {
        create("name");
        store.addReference(key("name"), pod("uid"));
        ttlNanos.set(0);
        requireRequestsForAGet(1);
        requireRequestsForAGet(1);

        ttlNanos.set(Duration.ofMinutes(5).toNanos());
        requireRequestsForAGet(0);
        timekeeper.advance(Duration.ofMinutes(4));
        requireRequestsForAGet(0);
        timekeeper.advance(Duration.ofMinutes(1));
        requireRequestsForAGet(1);

        // the custom TTL is gone: the default minute counts from the last fetch
        ttlNanos.set(Duration.ofMinutes(1).toNanos());
        timekeeper.advance(Duration.ofSeconds(55));
        requireRequestsForAGet(0);
        timekeeper.advance(Duration.ofSeconds(5));
        requireRequestsForAGet(1);
    }

    /**
     * TestCacheInvalidation: an updated pod refetches only what is new to it; a second pod refetches what it refers to.
     */
    @Test
    void cacheInvalidation() {
        create("s1", "s10", "s2", "s3");
        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1", "s10", "s2"));
        getAll("s1", "s10", "s2");
        assertThat(server.count(Verb.GET)).isEqualTo(3);
        server.clearActions();

        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1", "s2", "s3"));
        getAll("s1", "s2", "s3");
        assertThat(server.actions()).extracting(action -> action.key().name()).containsExactly("s3");
        server.clearActions();

        manager.registerPod(Pods.withSecrets(NS, "name2", "uid2", "s1", "s2"));
        getAll("s1", "s2", "s3");
        assertThat(server.actions()).extracting(action -> action.key().name()).containsExactly("s1", "s2");
    }

    /** TestRegisterIdempotence. */
    @Test
    void registerIdempotence() {
        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1"));
        requireReferences("s1", 1);
        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1"));
        requireReferences("s1", 1);
        manager.unregisterPod(Pods.withSecrets(NS, "name1", "uid1", "s1"));
        requireReferences("s1", 0);
        manager.unregisterPod(Pods.withSecrets(NS, "name1", "uid1", "s1"));
        requireReferences("s1", 0);
    }

    /** TestCacheRefcounts. */
    @Test
    void cacheRefcounts() {
        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1", "s2", "s1", "s3"));
        manager.registerPod(Pods.withSecrets(NS, "name2", "uid2", "s2", "s4"));
        manager.registerPod(Pods.withSecrets(NS, "name3", "uid3", "s3", "s5"));
        requireReferences("s1", 1);
        requireReferences("s2", 2);
        requireReferences("s3", 2);
        requireReferences("s4", 1);
        requireReferences("s5", 1);

        manager.unregisterPod(Pods.withSecrets(NS, "name2", "uid2"));
        manager.registerPod(Pods.withSecrets(NS, "name3", "uid3", "s4", "s5"));
        requireReferences("s2", 1);
        requireReferences("s3", 1);
        requireReferences("s4", 1);
        requireReferences("s5", 1);

        manager.unregisterPod(Pods.withSecrets(NS, "name1", "uid1", "never-mentioned"));
        requireReferences("s1", 0);
        requireReferences("s2", 0);
        requireReferences("s3", 0);
        manager.unregisterPod(Pods.withSecrets(NS, "name3", "uid3"));
        assertThat(store.size()).isZero();
    }

    /** TestCacheBasedSecretManager: gets follow what is registered. */
    @Test
    void cacheBasedSecretManager() {
        create("s1", "s2");
        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s1"));
        assertThat(Secrets.value(manager.getObject(NS, "s1"))).isEqualTo("v");
        assertThatThrownBy(() -> manager.getObject(NS, "s2")).isInstanceOf(NotRegistered.class);

        manager.registerPod(Pods.withSecrets(NS, "name1", "uid1", "s2"));
        assertThatThrownBy(() -> manager.getObject(NS, "s1")).isInstanceOf(NotRegistered.class);
        assertThat(Secrets.value(manager.getObject(NS, "s2"))).isEqualTo("v");
    }

    private void refer(int objects) {
        for (int i = 0; i < objects; i++) {
            create("name" + i);
            store.addReference(key("name" + i), pod("uid" + i));
        }
    }

    private void getAllAtOnce(int threads, int objects) throws InterruptedException {
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> running = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < threads; i++) {
            String name = "name" + i % objects;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    assertThat(Secrets.value(store.get(NS, name))).isEqualTo("v");
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            thread.start();
            running.add(thread);
        }
        start.countDown();
        for (Thread thread : running) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    private void requireRequestsForAGet(int expected) {
        server.clearActions();
        store.get(NS, "name");
        assertThat(server.count(Verb.GET)).isEqualTo(expected);
    }

    private void requireReferences(String name, int expected) {
        assertThat(manager.state(NS, name).references()).as(name).isEqualTo(expected);
    }

    private void getAll(String... names) {
        for (String name : names) {
            manager.getObject(NS, name);
        }
    }

    private void create(String... names) {
        for (String name : names) {
            server.cluster().create(Secrets.of(NS, name, "v"));
        }
    }

    private static ObjectKey key(String name) {
        return ObjectKey.of(NS, name);
    }

    private static PodKey pod(String uid) {
        return PodKey.of(NS, "pod", uid);
    }
}
