package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ManagersTest {

    private static final ObjectRef DB = ObjectRef.of(ObjectKind.SECRET, "shop", "db");
    private static final ObjectRef SETTINGS = ObjectRef.of(ObjectKind.CONFIG_MAP, "shop", "settings");
    private static final ObjectRef NODE = ObjectRef.of(ObjectKind.NODE, "", "worker-1");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Referrer owner = PodKey.of("shop", "owner", "uid-owner");
    private final Managers managers = new Managers(new Managers.Stores() {
        @Override
        public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
            return new TtlObjectStore<>(
                    kind, server.getter(kind), FixedTtl.ofSeconds(60), StoreOptions.defaults(timekeeper));
        }

        @Override
        public boolean countsReferences(ObjectKind<?> kind) {
            return !kind.equals(ObjectKind.SERVICE);
        }
    });

    @Test
    void register_objectsOfSeveralKinds_holdsThem() {
        managers.register(owner, Set.of(DB, SETTINGS, NODE));

        assertThat(references(DB)).isOne();
        assertThat(references(SETTINGS)).isOne();
        assertThat(references(NODE)).isOne();
    }

    @Test
    void register_again_replacesWhatIsHeldOfAllKinds() {
        managers.register(owner, Set.of(DB, NODE));
        managers.register(owner, Set.of(SETTINGS));

        assertThat(references(DB)).isZero();
        assertThat(references(NODE)).isZero();
        assertThat(references(SETTINGS)).isOne();
    }

    @Test
    void register_oneObjectForTwoUses_isOneReference() {
        managers.register(owner, Set.of(DB.withUsage(Usage.ENV), DB.withUsage(Usage.VOLUME), DB));

        assertThat(references(DB)).isOne();
        managers.register(owner, Set.of());
        assertThat(references(DB)).isZero();
    }

    @Test
    void register_illegalName_changesNothing() {
        managers.register(owner, Set.of(DB));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.register(
                        owner, Set.of(SETTINGS, ObjectRef.of(ObjectKind.SECRET, "shop", "Not_Legal"))))
                .withMessageContaining("Not_Legal");
        assertThat(references(DB)).isOne();
        assertThat(references(SETTINGS)).isZero();
    }

    @Test
    void register_ownerWithoutUid_isRefused() {
        Referrer nameless = new Referrer() {
            @Override
            public String uid() {
                return "";
            }

            @Override
            public String toString() {
                return "Website shop/front";
            }
        };

        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.register(nameless, Set.of(DB)))
                .withMessageStartingWith("referrer Website shop/front has no uid");
        assertThat(references(DB)).isZero();
    }

    @Test
    void register_namespaceThatTheKindHasNot_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.register(owner, Set.of(ObjectRef.of(ObjectKind.NODE, "shop", "worker-1"))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.register(owner, Set.of(ObjectRef.of(ObjectKind.SECRET, "", "db"))));
    }

    @Test
    void register_kindThatKeepsNoReferences_isChecked_butHoldsNothing() {
        ObjectRef service = ObjectRef.of(ObjectKind.SERVICE, "shop", "web");
        managers.register(owner, Set.of(service, DB));

        assertThat(references(service)).isZero();
        assertThat(references(DB)).isOne();
    }

    @Test
    void unregister_releasesObjectsOfAllKinds() {
        managers.register(owner, Set.of(DB, SETTINGS, NODE));
        managers.unregister(owner);

        assertThat(references(DB)).isZero();
        assertThat(references(SETTINGS)).isZero();
        assertThat(references(NODE)).isZero();
    }

    @Test
    void pod_holdsBesideAnotherOwner() {
        Pod pod = Pods.withSecrets("shop", "web", "uid-web", List.of("db"));
        managers.of(ObjectKind.NODE);
        managers.registerPod(pod);
        managers.register(owner, Set.of(DB));
        managers.unregister(owner);

        assertThat(references(DB)).isOne();
        managers.unregisterPod(pod);
        assertThat(references(DB)).isZero();
    }

    @Test
    void of_sameKind_isAlwaysTheSameManager() {
        assertThat(managers.of(ObjectKind.NODE)).isSameAs(managers.of(ObjectKind.NODE));
    }

    @Test
    void of_anotherModelClassForAKind_isRefused() {
        ObjectKind<GenericKubernetesResource> generic = ObjectKind.of("v1", "Secret", "secrets", true);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.of(generic))
                .withMessageContaining("GenericKubernetesResource")
                .withMessageContaining("one model class");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> managers.register(owner, Set.of(SETTINGS, ObjectRef.of(generic, "shop", "db"))));
        assertThat(references(SETTINGS)).isZero();
    }

    @Test
    void entries_showStateSizeAndOwnersWithTheirUses() {
        server.cluster().create(Secrets.of(DB.key(), "v1"));
        Pod pod = Pods.withSecrets("shop", "web", "uid-web", List.of("db"));
        managers.registerPod(pod);
        managers.register(owner, Set.of(DB.withUsage(Usage.ENV), DB.withUsage(Usage.PULL), NODE));
        managers.of(ObjectKind.SECRET).getObject("shop", "db");

        ObjectEntry db = entry(DB);
        assertThat(db.cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(db.resourceVersion()).isNotEmpty();
        assertThat(db.age()).isPresent();
        assertThat(db.lastFailure()).isEmpty();
        assertThat(db.bytes()).isPositive();
        assertThat(db.referrers()).containsExactlyInAnyOrder(owner, PodReferences.key(pod));
        assertThat(db.usages(owner)).containsExactlyInAnyOrder(Usage.ENV, Usage.PULL);
        assertThat(db.usages(PodReferences.key(pod))).hasSize(1);
        ObjectEntry node = entry(NODE);
        assertThat(node.cacheState()).isEqualTo(CacheState.UNREAD);
        assertThat(node.bytes()).isZero();
        assertThat(node.usages(owner)).isEmpty();
        assertThat(db).asString().contains("Secret shop/db", "FRESH").doesNotContain("v1");

        managers.unregister(owner);
        managers.unregisterPod(pod);
        assertThat(managers.entries()).isEmpty();
    }

    @Test
    void findAndPeek_objectThatIsThereOrNot() {
        Manager<Secret> secrets = managers.of(ObjectKind.SECRET);
        server.cluster().create(Secrets.of(DB.key(), "v1"));
        managers.register(owner, Set.of(DB, ObjectRef.of(ObjectKind.SECRET, "shop", "missing")));

        assertThat(secrets.peek("shop", "db")).isEmpty();
        assertThat(secrets.findObject("shop", "db")).isPresent();
        assertThat(secrets.peek("shop", "db")).isPresent();
        assertThat(secrets.findObject("shop", "missing")).isEmpty();
        assertThat(secrets.peek("shop", "missing")).isEmpty();
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.findObject("shop", "other"));
        assertThat(secrets.peek("shop", "other")).isEmpty();
    }

    private ObjectEntry entry(ObjectRef object) {
        return managers.entries().stream()
                .filter(entry ->
                        entry.kind().equals(object.kind()) && entry.key().equals(object.key()))
                .findFirst()
                .orElseThrow();
    }

    private int references(ObjectRef object) {
        ObjectKey key = object.key();
        var state = managers.of(object.kind()).state(key.namespace(), key.name());
        assertThat(state.cacheState()).isEqualTo(CacheState.UNREAD);
        return state.references();
    }
}
