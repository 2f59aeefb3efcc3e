package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The adapter against kube-apiserver itself: TLS, client certificates, its Status, its watches. */
@RealServerTest
@NullUnmarked
@ExtendWith(NoLeaks.class)
class Fabric8ApiServerRealServerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final RealApiServer real = RealApiServer.shared();
    private final BlockingQueue<WatchEvent<ConfigMap>> events = new LinkedBlockingQueue<>();
    private KubernetesClient admin;
    private Fabric8ApiServer server;
    private String namespace;

    @BeforeEach
    void setUp() {
        admin = real.client();
        server = Fabric8ApiServer.of(admin);
        namespace = admin.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withGenerateName("adapter-")
                        .endMetadata()
                        .build())
                .create()
                .getMetadata()
                .getName();
    }

    @AfterEach
    void tearDown() {
        server.close();
        admin.close();
    }

    @Test
    void get_latest_bringsTheObjectWithoutManagedFields() {
        Secret created = secret("db", "canary");

        Fetched<Secret> fetched = get(ReadSource.QUORUM, "db");

        assertThat(fetched.object().getData()).isEqualTo(created.getData());
        assertThat(fetched.resourceVersion()).isEqualTo(created.getMetadata().getResourceVersion());
        assertThat(created.getMetadata().getManagedFields()).isNotEmpty();
        assertThat(fetched.object().getMetadata().getManagedFields()).isEmpty();
        assertThat(fetched.encodedBytes()).isBetween(100, 2000);
    }

    @Test
    void get_cached_bringsTheObjectToo() {
        secret("db", "canary");
        get(ReadSource.QUORUM, "db");

        assertThat(get(ReadSource.CACHE, "db").object().getMetadata().getName()).isEqualTo("db");
    }

    @Test
    void get_absent_failsWithNotFound() {
        ApiServerException failure = failure(() -> get(ReadSource.QUORUM, "nothing"));

        assertThat(failure.reason()).isEqualTo(FailureReason.NOT_FOUND);
        assertThat(failure).hasMessageContaining("GET Secret " + namespace + "/nothing was answered 404");
    }

    @Test
    void get_byAStranger_failsWithForbiddenAndNamesTheUser() {
        try (KubernetesClient stranger = real.clientFor("stranger");
                Fabric8ApiServer theirs = Fabric8ApiServer.of(stranger)) {
            ApiServerException failure = failure(() -> theirs.getter(ObjectKind.SECRET)
                    .get(ObjectKey.of(namespace, "db"), ReadSource.QUORUM, TIMEOUT)
                    .join());

            assertThat(failure.reason()).isEqualTo(FailureReason.FORBIDDEN);
            assertThat(failure).hasMessageContaining("stranger");
        }
    }

    @Test
    void watch_byAStranger_endsWithForbidden() throws InterruptedException {
        try (KubernetesClient stranger = real.clientFor("stranger");
                Fabric8ApiServer theirs = Fabric8ApiServer.of(stranger)) {
            theirs.listerWatcher(ObjectKind.CONFIG_MAP, namespace, "").watch("1", TIMEOUT, events::add);

            assertThat(next())
                    .isInstanceOfSatisfying(
                            WatchEvent.Ended.class,
                            ended -> assertThat(ended.failure().reason()).isEqualTo(FailureReason.FORBIDDEN));
        }
    }

    @Test
    void list_withAFieldSelector_bringsWhatMatches() {
        configMap("one", "1");
        ConfigMap two = configMap("two", "2");

        Listed<ConfigMap> listed = configMaps("metadata.name=two").list(TIMEOUT).join();

        assertThat(listed.items()).singleElement().satisfies(item -> {
            assertThat(item.object().getData()).isEqualTo(two.getData());
            assertThat(item.resourceVersion()).isEqualTo(two.getMetadata().getResourceVersion());
            assertThat(item.object().getMetadata().getManagedFields()).isEmpty();
        });
        assertThat(listed.resourceVersion()).isNotEmpty();
    }

    @Test
    void watch_nonAsciiText_arrivesUnharmedEventAfterEvent() throws InterruptedException {
        String text = "héllo 日本語 🎉";
        watchAll();
        assertThat(next()).isInstanceOf(WatchEvent.Opened.class);

        for (int i = 0; i < 3; i++) {
            configMap("text-" + i, text + i);
            int number = i;
            assertThat(next())
                    .isInstanceOfSatisfying(
                            WatchEvent.Upserted.class,
                            event -> assertThat(((ConfigMap) event.fetched().object()).getData())
                                    .containsEntry("text", text + number));
        }
    }

    @Test
    void watch_resumedFromAnEvent_tellsOnlyWhatCameAfterIt() throws InterruptedException {
        watchAll();
        next();
        configMap("one", "1");
        String seen = ((WatchEvent.Upserted<ConfigMap>) next()).fetched().resourceVersion();
        configMap("two", "2");
        admin.configMaps().inNamespace(namespace).withName("one").delete();

        BlockingQueue<WatchEvent<ConfigMap>> resumed = new LinkedBlockingQueue<>();
        configMaps("").watch(seen, TIMEOUT, resumed::add);

        assertThat(resumed.poll(60, TimeUnit.SECONDS)).isInstanceOf(WatchEvent.Opened.class);
        assertThat(resumed.poll(60, TimeUnit.SECONDS)).isInstanceOf(WatchEvent.Upserted.class);
        assertThat(resumed.poll(60, TimeUnit.SECONDS)).isInstanceOf(WatchEvent.Deleted.class);
    }

    @Test
    void watch_serverTimeoutPassed_bringsABookmarkAndEndsInGoodOrder() throws InterruptedException {
        Listed<ConfigMap> listed = configMaps("").list(TIMEOUT).join();
        configMaps("").watch(listed.resourceVersion(), Duration.ofSeconds(3), events::add);
        next();
        configMap("one", "1");
        next();

        assertThat(next()).isInstanceOf(WatchEvent.Bookmark.class);
        WatchEvent<ConfigMap> last = next();
        while (last instanceof WatchEvent.Bookmark) {
            last = next();
        }
        assertThat(last).isEqualTo(new WatchEvent.Ended<>(null));
    }

    @Test
    void close_ofAWatch_endsItAtTheServerAtOnce() {
        // of a kind that neither the server watches nor another test, whose watches may be ending just now
        ListerWatcher<Event> all = server.listerWatcher(ObjectKind.EVENT, namespace, "");
        String version = all.list(TIMEOUT).join().resourceVersion();
        // its connection stays in use: an idle one is closed, which ends its watches, too
        WatchHandle other = all.watch(version, Duration.ofMinutes(5), event -> {});
        await().until(() -> real.metrics().openWatches("events") == 1);
        WatchHandle handle = all.watch(version, Duration.ofMinutes(5), event -> {});
        await().until(() -> real.metrics().openWatches("events") == 2);

        handle.close();

        await().until(() -> real.metrics().openWatches("events") == 1);
        other.close();
    }

    private WatchHandle watchAll() {
        ListerWatcher<ConfigMap> all = configMaps("");
        return all.watch(all.list(TIMEOUT).join().resourceVersion(), Duration.ofMinutes(5), events::add);
    }

    private WatchEvent<ConfigMap> next() throws InterruptedException {
        WatchEvent<ConfigMap> event = events.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    private ListerWatcher<ConfigMap> configMaps(String fieldSelector) {
        return server.listerWatcher(ObjectKind.CONFIG_MAP, namespace, fieldSelector);
    }

    private Fetched<Secret> get(ReadSource freshness, String name) {
        return server.getter(ObjectKind.SECRET)
                .get(ObjectKey.of(namespace, name), freshness, TIMEOUT)
                .join();
    }

    private static ApiServerException failure(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        Throwable thrown = catchThrowable(call);
        assertThat(thrown).isInstanceOf(CompletionException.class).hasCauseInstanceOf(ApiServerException.class);
        return (ApiServerException) thrown.getCause();
    }

    private Secret secret(String name, String value) {
        return admin.secrets()
                .resource(new SecretBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .withStringData(Map.of("password", value))
                        .build())
                .create();
    }

    private ConfigMap configMap(String name, String text) {
        return admin.configMaps()
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .withData(Map.of("text", text))
                        .build())
                .create();
    }
}
