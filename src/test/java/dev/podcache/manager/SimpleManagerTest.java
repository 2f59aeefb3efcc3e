package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.StoreOptions;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Collections;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class SimpleManagerTest {

    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final DirectObjectStore<Secret> store = new DirectObjectStore<>(
            ObjectKind.SECRET, server.getter(ObjectKind.SECRET), StoreOptions.defaults(timekeeper));
    private final Manager<Secret> manager = Managers.simple(store);

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void getObject_ofAnyPodOrNone_asksTheServer() {
        server.cluster().create(Secrets.of("shop", "db", "v1"));

        assertThat(Secrets.value(manager.getObject("shop", "db"))).isEqualTo("v1");
    }

    @Test
    void state_anyObject_isUnread() {
        assertThat(manager.state("shop", "db").cacheState()).isEqualTo(CacheState.UNREAD);
        assertThatThrownBy(() -> manager.state("shop", "DB")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void registerPod_completePod_asksForNothing() {
        Pod pod = Pods.withSecrets("shop", "web", "uid", "db");
        manager.registerPod(pod);
        manager.unregisterPod(pod);

        assertThat(server.actions()).isEmpty();
    }

    @Test
    void register_anyReferrer_asksForNothing() {
        Referrer owner = () -> "cr-1";
        manager.register(owner, Set.of(ObjectKey.of("shop", "db")));
        manager.unregister(owner);

        assertThat(server.actions()).isEmpty();
    }

    @Test
    void register_nullAmongTheObjects_isRefusedAsByOtherManagers() {
        Set<ObjectKey> objects = Collections.singleton(null);

        assertThatThrownBy(() -> manager.register(() -> "cr-1", objects)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void registerPod_incompletePod_isRefusedAsByOtherManagers() {
        Pod withoutSpec = new PodBuilder(Pods.withSecrets("shop", "web", "uid", "db"))
                .withSpec(null)
                .build();

        assertThatThrownBy(() -> manager.registerPod(withoutSpec)).hasMessageContaining("spec");
        assertThatThrownBy(() -> manager.unregisterPod(new Pod())).hasMessageContaining("metadata");
    }
}
