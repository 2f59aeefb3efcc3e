package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scope NAMESPACE for a service account, with and without the right to list and watch the namespaces. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
@ExtendWith(NoLeaks.class)
class ScopeRealServerTest {

    private static final int OBJECTS = 20;

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final TestNamespace store = new TestNamespace(real);

    @AfterEach
    void close() {
        shop.close();
        store.close();
    }

    @Test
    void listAndWatchOnTheNamespaces_oneWatchForEach() {
        Config account = shop.serviceAccount("get");
        for (TestNamespace namespace : List.of(shop, store)) {
            allowAll(namespace);
        }
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(account).build();
                Podcache cache = cache(client)) {
            long others = watchesOfOthers();
            follow(cache);

            assertThat(real.metrics().openWatchesInNamespaces("secrets")).isEqualTo(others + 2);
            assertThat(cache.secrets().state(shop.name(), "s0").freshness()).isEqualTo("watched");
        }
    }

    @Test
    @ExpectedWarnings({"is watched by name instead", "is watched by name instead"})
    void accessToTheNamesOnly_fallsBackToAWatchForEachObject() {
        Config account = shop.serviceAccount("get");
        allowNames(shop);
        allowNames(store);
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(account).build();
                Podcache cache = cache(client)) {
            long others = watchesOfOthers();
            follow(cache);

            assertThat(real.metrics().openWatchesInNamespaces("secrets")).isEqualTo(others + 2 * OBJECTS);
            assertThat(cache.secrets().state(shop.name(), "s0").freshness())
                    .contains("the watch of the namespace was refused");
        }
    }

    /** Waits until the watches of the test before, which are closed, have ended at the server, too. */
    private long watchesOfOthers() {
        AtomicLong last = new AtomicLong(-1);
        return await().during(Duration.ofSeconds(2))
                .until(() -> real.metrics().openWatchesInNamespaces("secrets"), now -> last.getAndSet(now) == now);
    }

    private static Podcache cache(KubernetesClient client) {
        return Podcache.builder(client)
                .scope(ObjectKind.SECRET, WatchScope.NAMESPACE)
                .firstSyncTimeout(Duration.ofSeconds(20))
                .build();
    }

    /** Registers the first half of the Secrets of both namespaces, reads them all and sees each change. */
    private void follow(Podcache cache) {
        Namespace owner = shop.admin().namespaces().withName(shop.name()).get();
        Set<ObjectRef> referenced = new HashSet<>();
        for (TestNamespace namespace : List.of(shop, store)) {
            for (int i = 0; i < 2 * OBJECTS; i++) {
                namespace.put("s" + i, "v1");
            }
            for (int i = 0; i < OBJECTS; i++) {
                referenced.add(ObjectRef.of(ObjectKind.SECRET, namespace.name(), "s" + i));
            }
        }
        cache.register(Referrer.of(owner), referenced);
        for (ObjectRef each : referenced) {
            assertThat(value(cache, ObjectKey.of(each.namespace(), each.name())))
                    .isEqualTo("v1");
        }
        for (TestNamespace namespace : List.of(shop, store)) {
            for (int i = 0; i < 2 * OBJECTS; i++) {
                namespace.put("s" + i, "v2");
            }
            namespace.delete("s0");
        }
        for (ObjectRef each : referenced) {
            ObjectKey key = ObjectKey.of(each.namespace(), each.name());
            await().until(() -> value(cache, key).equals(each.name().equals("s0") ? "absent" : "v2"));
        }
        assertThat(cache.entries()).hasSize(2 * OBJECTS).noneMatch(entry -> entry.cacheState() == CacheState.STALE);
    }

    private static String value(Podcache cache, ObjectKey key) {
        return cache.secrets()
                .findObject(key.namespace(), key.name())
                .map((Secret secret) -> Secrets.value(secret))
                .orElse("absent");
    }

    /** Lets the service account list and watch all Secrets of a namespace. */
    private void allowAll(TestNamespace namespace) {
        namespace.kubectl("create", "role", "lister", "--verb=list,watch", "--resource=secrets");
        bind(namespace);
        await().until(() -> may(namespace, "secrets"));
    }

    /** Lets the service account get, list and watch the Secrets that the test refers to. */
    private void allowNames(TestNamespace namespace) {
        String[] command = new String[5 + OBJECTS];
        command[0] = "create";
        command[1] = "role";
        command[2] = "lister";
        command[3] = "--verb=get,list,watch";
        command[4] = "--resource=secrets";
        for (int i = 0; i < OBJECTS; i++) {
            command[5 + i] = "--resource-name=s" + i;
        }
        namespace.kubectl(command);
        bind(namespace);
        await().until(() -> may(namespace, "secrets/s0"));
    }

    private void bind(TestNamespace namespace) {
        namespace.kubectl(
                "create", "rolebinding", "lister", "--role=lister", "--serviceaccount=" + shop.name() + ":reader");
    }

    private boolean may(TestNamespace namespace, String what) {
        String account = "system:serviceaccount:" + shop.name() + ":reader";
        try {
            return namespace
                    .kubectl("auth", "can-i", "list", what, "--as=" + account)
                    .startsWith("yes");
        } catch (IllegalStateException no) {
            return false;
        }
    }
}
