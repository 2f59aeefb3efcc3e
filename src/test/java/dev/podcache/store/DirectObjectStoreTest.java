package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class DirectObjectStoreTest {

    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final DirectObjectStore<Secret> store = new DirectObjectStore<>(
            ObjectKind.SECRET, server.getter(ObjectKind.SECRET), StoreOptions.defaults(timekeeper));

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void get_everyTime_asksForTheLatestState() {
        server.cluster().create(Secrets.of(DB, "v1"));
        assertThat(value()).isEqualTo("v1");
        server.cluster().update(Secrets.of(DB, "v2"));
        assertThat(value()).isEqualTo("v2");

        assertThat(server.actions()).extracting(FakeApiServer.Action::source).containsOnly(ReadSource.QUORUM);
        assertThat(server.gets(DB)).isEqualTo(2);
    }

    @Test
    void get_noSuchObject_failsNotFound() {
        assertThatThrownBy(this::value).isInstanceOf(NotFound.class);
    }

    @Test
    void get_serverFailsForAMoment_isRepeated() {
        server.cluster().create(Secrets.of(DB, "v1"));
        server.failNext(2, new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "down", null));

        assertThat(value()).isEqualTo("v1");
    }

    @Test
    void get_serverFailsForGood_failsWithItsFacts() {
        server.failNext(1000, new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "down", null));

        assertThatThrownBy(this::value)
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.httpCode()).hasValue(503));
    }

    @Test
    void references_meanNothing() {
        store.addReference(DB, POD);
        store.deleteReference(DB, POD);

        assertThat(server.actions()).isEmpty();
        assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
        assertThat(store.state(DB).references()).isZero();
    }

    @Test
    void close_getsFailClosed() {
        server.cluster().create(Secrets.of(DB, "v1"));
        store.close();

        assertThatThrownBy(this::value).isInstanceOf(Closed.class);
    }

    @Test
    void get_illegalName_isRefusedWithoutARequest() {
        assertThatThrownBy(() -> store.get("default", "a/b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a/b\"");
        assertThat(server.actions()).isEmpty();
    }

    private String value() {
        return Secrets.value(store.get(DB.namespace(), DB.name()));
    }
}
