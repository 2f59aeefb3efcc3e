package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ManagerTest {

    private static final String NS = "default";

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));
    private final AtomicInteger extractions = new AtomicInteger();
    private final Manager<Secret> manager = Managers.caching(store, pod -> {
        extractions.incrementAndGet();
        return PodReferences.secretKeys(pod);
    });

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void registerPod_touchesNoNetwork() {
        server.forbidCallsOnThisThread(() -> {
            manager.registerPod(pod("uid", "a", "b"));
            manager.registerPod(pod("uid", "b", "c"));
            manager.unregisterPod(pod("uid"));
        });
        assertThat(server.actions()).isEmpty();
    }

    @Test
    void registerPod_sameVersionAgain_isNotLookedAt() {
        Pod pod = Pods.at(pod("uid", "a"), "7");
        manager.registerPod(pod);
        manager.registerPod(pod);
        manager.registerPod(Pods.at(pod("uid", "ignored"), "7"));

        assertThat(extractions).hasValue(1);
        assertThat(references("a")).isEqualTo(1);
    }

    @Test
    void registerPod_sameVersionOfAnotherUid_isAnotherPod() {
        manager.registerPod(Pods.at(pod("uid-1", "a"), "7"));
        manager.registerPod(Pods.at(pod("uid-2", "a"), "7"));

        assertThat(references("a")).isEqualTo(2);
    }

    @Test
    void registerPod_withoutVersion_isComparedByNames() {
        server.cluster().create(Secrets.of(NS, "a", "v1"));
        manager.registerPod(pod("uid", "a"));
        manager.getObject(NS, "a");
        manager.registerPod(pod("uid", "a"));
        manager.getObject(NS, "a");

        assertThat(extractions).hasValue(2);
        assertThat(server.gets(ObjectKey.of(NS, "a"))).isEqualTo(1);
    }

    @Test
    void registerPod_changed_neverDropsWhatStays() {
        server.cluster().create(Secrets.of(NS, "a", "v1"));
        manager.registerPod(pod("uid", "a", "b"));
        Secret before = manager.getObject(NS, "a");
        manager.registerPod(pod("uid", "c", "a"));

        assertThat(manager.getObject(NS, "a")).isSameAs(before);
        assertThat(references("b")).isZero();
        assertThat(references("c")).isEqualTo(1);
    }

    /** Kubernetes PR 107831. */
    @Test
    void unregisterPod_lateForAPredecessor_leavesTheSuccessorAlone() {
        server.cluster().create(Secrets.of(NS, "a", "v1"));
        manager.registerPod(pod("old", "a"));
        manager.registerPod(pod("new", "a"));
        manager.unregisterPod(pod("old", "a"));

        assertThat(Secrets.value(manager.getObject(NS, "a"))).isEqualTo("v1");
        manager.unregisterPod(pod("new"));
        assertThatThrownBy(() -> manager.getObject(NS, "a")).isInstanceOf(NotRegistered.class);
    }

    @Test
    void unregisterPod_unknown_hasNoEffect() {
        manager.registerPod(pod("uid", "a"));
        manager.unregisterPod(pod("other", "a"));

        assertThat(references("a")).isEqualTo(1);
    }

    @Test
    void unregisterPod_thenRegisterSameVersion_registersAgain() {
        Pod pod = Pods.at(pod("uid", "a"), "7");
        manager.registerPod(pod);
        manager.unregisterPod(pod);
        manager.registerPod(pod);

        assertThat(references("a")).isEqualTo(1);
    }

    @Test
    void registerPod_incomplete_isRefusedAndChangesNothing() {
        manager.registerPod(pod("uid", "a"));

        assertRefused(new Pod(), "metadata");
        assertRefused(new PodBuilder(pod("uid", "b")).withSpec(null).build(), "spec");
        assertRefused(
                new PodBuilder(pod("uid", "b"))
                        .editMetadata()
                        .withUid(null)
                        .endMetadata()
                        .build(),
                "uid");
        assertRefused(
                new PodBuilder(pod("uid", "b"))
                        .editMetadata()
                        .withUid("")
                        .endMetadata()
                        .build(),
                "uid");
        assertThat(references("a")).isEqualTo(1);
        assertThat(references("b")).isZero();
    }

    @Test
    void unregisterPod_needsNoSpec() {
        manager.registerPod(pod("uid", "a"));
        manager.unregisterPod(new PodBuilder(pod("uid")).withSpec(null).build());

        assertThat(references("a")).isZero();
    }

    @Test
    void registerPod_extractionFails_changesNothing() {
        Manager<Secret> failing = Managers.caching(store, pod -> {
            throw new IllegalArgumentException("no idea");
        });

        assertThatThrownBy(() -> failing.registerPod(pod("uid", "a"))).hasMessage("no idea");
        assertThat(store.size()).isZero();
    }

    @Test
    void registerPod_illegalNameInSpec_keepsTheOthers_andItsGetNamesIt() {
        server.cluster().create(Secrets.of(NS, "a", "v1"));
        manager.registerPod(pod("uid", "a", "Not_Legal/../x"));

        assertThat(Secrets.value(manager.getObject(NS, "a"))).isEqualTo("v1");
        assertThatThrownBy(() -> manager.getObject(NS, "Not_Legal/../x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Not_Legal/../x");
    }

    @Test
    void registerPod_afterClose_isRefused() {
        store.close();

        assertThatThrownBy(() -> manager.registerPod(pod("uid", "a")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(store.size()).isZero();
    }

    /** Operators bring their own referrers. */
    @Test
    void register_anyReferrer_holdsItsObjectsUntilItIsUnregistered() {
        Referrer owner = new Owner("cr-1");
        manager.register(owner, keys("a"));
        assertThat(references("a")).isEqualTo(1);

        manager.unregister(owner);
        assertThat(references("a")).isZero();
    }

    @Test
    void register_again_takesTheDifference_andReadsNothingAnewThatStays() {
        server.cluster().create(Secrets.of(NS, "a", "v1"));
        manager.register(new Owner("cr-1"), keys("a", "b"));
        Secret before = manager.getObject(NS, "a");
        manager.register(new Owner("cr-1"), keys("a", "c"));

        assertThat(manager.getObject(NS, "a")).isSameAs(before);
        assertThat(references("b")).isZero();
        assertThat(references("c")).isEqualTo(1);
    }

    @Test
    void register_besideAPod_countsBoth() {
        manager.register(new Owner("cr-1"), keys("a"));
        manager.registerPod(pod("uid", "a"));
        assertThat(references("a")).isEqualTo(2);

        manager.unregister(new Owner("cr-1"));
        assertThat(references("a")).isEqualTo(1);
    }

    @Test
    void register_keysChangedByTheCallerLater_areHeldAsTheyWere() {
        Set<ObjectKey> keys = new HashSet<>(keys("a"));
        manager.register(new Owner("cr-1"), keys);
        keys.clear();
        manager.unregister(new Owner("cr-1"));

        assertThat(references("a")).isZero();
    }

    private record Owner(String uid) implements Referrer {}

    private static Set<ObjectKey> keys(String... names) {
        return Arrays.stream(names).map(name -> ObjectKey.of(NS, name)).collect(Collectors.toUnmodifiableSet());
    }

    private void assertRefused(Pod pod, String missing) {
        assertThatThrownBy(() -> manager.registerPod(pod))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(missing)
                .hasMessageContaining("as the API server returned");
    }

    private int references(String name) {
        return manager.state(NS, name).references();
    }

    private static Pod pod(String uid, String... secrets) {
        return Pods.withSecrets(NS, "web", uid, secrets);
    }
}
