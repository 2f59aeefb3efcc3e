package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of a {@link Store} of Secrets that counts references, for every strategy and API server. A subclass
 * provides both. Each test uses its own namespace.
 */
public abstract class StoreContract {

    /** The API server behind the store, on which tests change objects. */
    public interface SecretServer {
        /** Creates a namespace. */
        void createNamespace(String name);

        /** Creates or replaces the Secret. */
        void put(Secret secret);

        /** Deletes the Secret. */
        void delete(Secret secret);
    }

    private static final PodKey POD = PodKey.of("shop", "web", "uid-1");
    private static final PodKey OTHER_POD = PodKey.of("shop", "web", "uid-2");

    private final String namespace = "contract-" + UUID.randomUUID().toString().substring(0, 8);
    private final ObjectKey key = ObjectKey.of(namespace, "db");

    /** Returns the store under test, the same within a test. The subclass closes it. */
    protected abstract Store<Secret> store();

    /** Closes the store. */
    protected abstract void closeStore();

    /** Returns the API server behind the store. */
    protected abstract SecretServer server();

    /**
     * Runs a check for a get after a further reference to an object in the store. Runs it once by default. A store that
     * attaches to a live watch gets changes over the network and repeats the check until it passes.
     */
    protected void afterJoining(Runnable check) {
        check.run();
    }

    @BeforeEach
    void createNamespace() {
        server().createNamespace(namespace);
    }

    @AfterEach
    void closeWhatIsOpen() {
        closeStore();
    }

    @Test
    void get_withoutReference_failsNotRegistered() {
        server().put(Secrets.of(key, "v1"));

        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class).hasMessageContaining(key.toString());
    }

    @Test
    void get_withReference_bringsTheObject() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);

        assertThat(Secrets.value(get())).isEqualTo("v1");
    }

    @Test
    void get_multiByteText_isExact() {
        server().put(Secrets.of(key, "héllo 日本語 🎉"));
        store().addReference(key, POD);

        assertThat(Secrets.value(get())).isEqualTo("héllo 日本語 🎉");
    }

    @Test
    void get_twice_bringsTheSameInstance() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);

        assertThat(get()).isSameAs(get());
    }

    @Test
    void get_noSuchObject_failsNotFound() {
        store().addReference(key, POD);

        assertThatThrownBy(this::get).isInstanceOf(NotFound.class).hasMessageContaining(key.toString());
        assertThat(store().state(key).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @Test
    void get_firstReference_bringsTheLatestState() {
        for (int i = 0; i < 5; i++) {
            server().put(Secrets.of(key, "v" + i));
            store().addReference(key, POD);
            assertThat(Secrets.value(get())).isEqualTo("v" + i);
            store().deleteReference(key, POD);
        }
    }

    @Test
    void get_deletedAndCreatedAgainBeforeFirstReference_bringsTheNewOne() {
        server().put(Secrets.immutable(key, "v1"));
        store().addReference(key, POD);
        assertThat(Secrets.value(get())).isEqualTo("v1");
        store().deleteReference(key, POD);

        server().delete(Secrets.of(key, "v1"));
        server().put(Secrets.immutable(key, "v2"));
        store().addReference(key, POD);

        assertThat(Secrets.value(get())).isEqualTo("v2");
    }

    @Test
    void get_sameNameInAnotherNamespace_isAnotherObject() {
        ObjectKey elsewhere = ObjectKey.of(namespace + "-2", key.name());
        server().createNamespace(elsewhere.namespace());
        server().put(Secrets.of(key, "v1"));
        server().put(Secrets.of(elsewhere, "v2"));
        store().addReference(key, POD);
        store().addReference(elsewhere, POD);

        assertThat(Secrets.value(get())).isEqualTo("v1");
        assertThat(Secrets.value(store().get(elsewhere.namespace(), elsewhere.name())))
                .isEqualTo("v2");
    }

    @Test
    void addReference_afterAChange_theNextGetSeesIt() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        get();
        server().put(Secrets.of(key, "v2"));

        store().addReference(key, OTHER_POD);

        afterJoining(() -> assertThat(Secrets.value(get())).isEqualTo("v2"));
    }

    @Test
    void addReference_afterADeletion_theNextGetFailsNotFound() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        get();
        server().delete(Secrets.of(key, "v1"));

        store().addReference(key, OTHER_POD);

        afterJoining(() -> assertThatThrownBy(this::get).isInstanceOf(NotFound.class));
    }

    @Test
    void deleteReference_oneOfTwo_keepsTheObject() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        store().addReference(key, OTHER_POD);
        store().deleteReference(key, POD);

        assertThat(Secrets.value(get())).isEqualTo("v1");
        assertThat(store().state(key).references()).isEqualTo(1);
    }

    @Test
    void deleteReference_countedTwice_needsTwo() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        store().addReference(key, POD);
        store().deleteReference(key, POD);

        assertThat(Secrets.value(get())).isEqualTo("v1");

        store().deleteReference(key, POD);
        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class);
    }

    @Test
    void deleteReference_last_dropsTheObject() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        get();
        store().deleteReference(key, POD);

        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class);
        assertThat(store().state(key).references()).isZero();
        assertThat(store().state(key).cacheState()).isEqualTo(CacheState.UNREAD);
    }

    @Test
    void deleteReference_neverAdded_isIgnored() {
        server().put(Secrets.of(key, "v1"));
        store().deleteReference(key, POD);
        store().addReference(key, POD);
        store().deleteReference(key, OTHER_POD);

        assertThat(Secrets.value(get())).isEqualTo("v1");
        store().deleteReference(key, POD);
        assertThatThrownBy(this::get).isInstanceOf(NotRegistered.class);
    }

    @Test
    void get_illegalNames_areRefusedWithTheValue() {
        assertThatThrownBy(() -> store().get("shop", "No Such Name"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"No Such Name\"");
        assertThatThrownBy(() -> store().get("", "db"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("namespace \"\"");
        assertThatThrownBy(() -> store().get("shop", "../nodes"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"../nodes\"");
    }

    @Test
    void state_freshObject_tellsVersionAndAgeButNoContent() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        Secret secret = get();

        assertThat(store().state(key).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(store().state(key).resourceVersion())
                .isEqualTo(secret.getMetadata().getResourceVersion());
        assertThat(store().state(key).age()).isNotNull();
        assertThat(store().state(key).lastFailure()).isNull();
        assertThat(store().state(key).toString())
                .doesNotContain(secret.getData().get("canary"));
    }

    @Test
    void close_getsFailClosed_andReferencesAreRefused() {
        server().put(Secrets.of(key, "v1"));
        store().addReference(key, POD);
        get();
        closeStore();

        assertThatThrownBy(this::get).isInstanceOf(Closed.class);
        assertThatThrownBy(() -> store().addReference(key, POD)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(this::get).isInstanceOf(Closed.class);
    }

    private Secret get() {
        try {
            return store().get(key.namespace(), key.name());
        } catch (RuntimeException e) {
            throw NoLeaks.saw(e);
        } finally {
            NoLeaks.saw(store().state(key));
        }
    }
}
