package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Phase;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.object.ResourceVersions;
import dev.podcache.store.ObjectState;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.function.Function;
import java.util.function.Supplier;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What every {@link Store} that counts references promises, on every API server. A subclass names the store and the server:
 *
 * <pre>{@code
 * class TtlObjectStoreContractTest extends StoreContract {
 *     TtlObjectStoreContractTest() {
 *         super(FakeSecretServer::new, StoreContract::ttlStore);
 *     }
 * }
 * }</pre>
 *
 * <p>Secrets here carry the {@linkplain NoLeaks#CANARY canary}, so a store that logs one fails.
 */
@ExtendWith(NoLeaks.class)
public abstract class StoreContract {

    private static final Duration BRIEF = Duration.ofMillis(200);
    private static final Referrer WEB = PodKey.of("shop", "web", "uid-1");
    private static final Referrer API = PodKey.of("shop", "api", "uid-2");

    private final SecretServer server;
    private final Store<Secret> store;
    private final ObjectKey key;

    /**
     * The contract for one store on one server.
     *
     * @param server makes the server of one test
     * @param store makes the store of one test; closed after it, if it can be
     */
    protected StoreContract(Supplier<SecretServer> server, Function<SecretServer, Store<Secret>> store) {
        this.server = server.get();
        this.store = store.apply(this.server);
        this.key = ObjectKey.of(this.server.newNamespace(), "db");
    }

    /** Strategy CACHE with a TTL long enough for a hit to follow a miss, and short enough to wait for its end. */
    protected static Store<Secret> ttlStore(SecretServer server) {
        ObjectTtlSource brief = new ObjectTtlSource() {
            @Override
            public long ttlNanos() {
                return BRIEF.toNanos();
            }

            @Override
            public String origin() {
                return "the contract";
            }
        };
        return new TtlObjectStore<>(
                ObjectKind.SECRET, server.getter(), brief, StoreOptions.defaults(server.timekeeper()));
    }

    @AfterEach
    final void closeBoth() throws Exception {
        closeStore();
        server.close();
    }

    @Test
    void get_referencedObject_isAsTheServerHasIt() {
        Secret stored = put(key, "1");
        store.addReference(key, WEB);

        Secret got = get(key);

        assertThat(got.getMetadata().getUid()).isEqualTo(stored.getMetadata().getUid());
        assertThat(versionOf(got)).isEqualTo(versionOf(stored));
        assertThat(got.getData()).isEqualTo(stored.getData());
    }

    @Test
    void get_objectNobodyRefersTo_failsNotRegistered() {
        put(key, "1");

        assertFails(key, NotRegistered.class);
    }

    @Test
    void get_referencedButAbsent_failsNotFound() {
        store.addReference(key, WEB);

        assertFails(key, NotFound.class);
    }

    @Test
    void get_sameNameInAnotherNamespace_isAnotherObject() {
        ObjectKey other = ObjectKey.of(server.newNamespace(), key.name());
        put(key, "1");
        put(other, "2");
        store.addReference(key, WEB);
        store.addReference(other, WEB);

        assertThat(valueOf(get(key))).isEqualTo("1");
        assertThat(valueOf(get(other))).isEqualTo("2");
    }

    @Test
    void get_createdAfterItWasMissed_isFound() {
        store.addReference(key, WEB);
        assertFails(key, NotFound.class);

        put(key, "1");

        soon().untilAsserted(() -> assertThat(valueOf(get(key))).isEqualTo("1"));
    }

    @Test
    void get_objectChanges_followsAndNeverGoesBack() {
        put(key, "0");
        store.addReference(key, WEB);
        String[] seen = {versionOf(get(key))};
        for (int i = 1; i <= 5; i++) {
            String value = Integer.toString(i);
            put(key, value);

            soon().untilAsserted(() -> {
                Secret got = get(key);
                assertThat(ResourceVersions.isOlder(versionOf(got), seen[0])).isFalse();
                seen[0] = versionOf(got);
                assertThat(valueOf(got)).isEqualTo(value);
            });
        }
    }

    @Test
    void get_objectDeleted_failsNotFoundSoon() {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);

        server.delete(key);

        soon().untilAsserted(() -> assertFails(key, NotFound.class));
    }

    @Test
    void get_objectCreatedAnew_isTheNewOne() {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);
        server.delete(key);

        Secret successor = put(key, "2");

        soon().untilAsserted(() -> assertThat(get(key).getMetadata().getUid())
                .isEqualTo(successor.getMetadata().getUid()));
    }

    @Test
    void addReference_afterAChange_theNextGetSeesIt() {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);
        put(key, "2");

        store.addReference(key, API);

        assertThat(valueOf(get(key))).isEqualTo("2");
    }

    @Test
    void addReference_afterADeletion_theNextGetFailsNotFound() {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);
        server.delete(key);

        store.addReference(key, API);

        assertFails(key, NotFound.class);
    }

    @Test
    void deleteReference_oneOfTwo_keepsTheObject() {
        put(key, "1");
        store.addReference(key, WEB);
        store.addReference(key, API);

        store.deleteReference(key, WEB);

        assertThat(valueOf(get(key))).isEqualTo("1");
        assertThat(store.state(key).references()).isEqualTo(1);
    }

    @Test
    void deleteReference_last_dropsTheObject() {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);

        store.deleteReference(key, WEB);

        assertFails(key, NotRegistered.class);
        assertThat(store.state(key).references()).isZero();
        assertThat(store.state(key).resourceVersion()).isEmpty();
    }

    @Test
    void deleteReference_addedTwice_needsTwo() {
        put(key, "1");
        store.addReference(key, WEB);
        store.addReference(key, WEB);

        store.deleteReference(key, WEB);
        assertThat(valueOf(get(key))).isEqualTo("1");
        store.deleteReference(key, WEB);

        assertFails(key, NotRegistered.class);
    }

    @Test
    void deleteReference_neverAdded_isIgnored() {
        put(key, "1");
        store.addReference(key, WEB);

        store.deleteReference(key, API);
        store.deleteReference(key, API);

        assertThat(valueOf(get(key))).isEqualTo("1");
    }

    @Test
    void deleteReference_neverAdded_isNotOwed() {
        put(key, "1");
        store.deleteReference(key, WEB);

        store.addReference(key, WEB);

        assertThat(valueOf(get(key))).isEqualTo("1");
    }

    @Test
    void state_objectThatWasRead_tellsVersionButNoContent() {
        Secret stored = put(key, "1");
        store.addReference(key, WEB);
        get(key);

        ObjectState state = store.state(key);

        assertThat(state.phase()).isIn(Phase.FRESH, Phase.STALE);
        assertThat(state.resourceVersion()).isEqualTo(versionOf(stored));
        assertThat(state.lastFailure()).isNull();
        assertThat(state.toString()).doesNotContain(NoLeaks.CANARY);
    }

    @Test
    void state_absentObject_isAbsent() {
        store.addReference(key, WEB);
        assertFails(key, NotFound.class);

        assertThat(store.state(key).phase()).isEqualTo(Phase.ABSENT);
    }

    @Test
    void state_objectNobodyRefersTo_isUnread() {
        assertThat(store.state(key).phase()).isEqualTo(Phase.UNREAD);
        assertThat(store.state(key).references()).isZero();
    }

    @Test
    void get_illegalName_isRefused() {
        assertThatThrownBy(() -> store.get(key.namespace(), "No Name"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("No Name");
        assertThatThrownBy(() -> store.get("", key.name())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void close_afterwards_getsFailClosedAndReferencesAreRefused() throws Exception {
        put(key, "1");
        store.addReference(key, WEB);
        get(key);

        closeStore();

        assertFails(key, Closed.class);
        assertThatThrownBy(() -> store.addReference(key, API)).isInstanceOf(IllegalStateException.class);
        assertThatCode(() -> store.deleteReference(key, WEB)).doesNotThrowAnyException();
    }

    @Test
    void objects_handedOut_areNotChangedLater(NoLeaks noLeaks) {
        put(key, "1");
        store.addReference(key, WEB);
        noLeaks.watchForMutation(get(key));

        put(key, "2");

        soon().untilAsserted(() -> assertThat(valueOf(get(key))).isEqualTo("2"));
    }

    private void closeStore() throws Exception {
        if (store instanceof AutoCloseable closeable) {
            closeable.close();
        }
    }

    private Secret get(ObjectKey asked) {
        return store.get(asked.namespace(), asked.name());
    }

    private void assertFails(ObjectKey asked, Class<? extends ObjectUnavailableException> how) {
        assertThatThrownBy(() -> get(asked)).isInstanceOfSatisfying(how, failure -> {
            assertThat(failure.key()).isEqualTo(asked);
            assertThat(failure.kind()).isSameAs(ObjectKind.SECRET);
        });
    }

    private Secret put(ObjectKey where, String value) {
        return server.put(new SecretBuilder()
                .withNewMetadata()
                .withNamespace(where.namespace())
                .withName(where.name())
                .endMetadata()
                .addToData("canary", NoLeaks.ENCODED_CANARY)
                .addToData("value", Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.US_ASCII)))
                .build());
    }

    private static String valueOf(Secret secret) {
        return new String(Base64.getDecoder().decode(secret.getData().get("value")), StandardCharsets.US_ASCII);
    }

    private static String versionOf(Secret secret) {
        return secret.getMetadata().getResourceVersion();
    }

    private static ConditionFactory soon() {
        return await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(20))
                .pollInSameThread()
                .ignoreExceptions();
    }
}
