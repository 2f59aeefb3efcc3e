package dev.podcache.josdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.Subject;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.javaoperatorsdk.operator.api.config.BaseConfigurationService;
import io.javaoperatorsdk.operator.api.config.ConfigurationService;
import io.javaoperatorsdk.operator.api.config.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.EventHandler;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The event source of a user's unit test: made by {@link PodcacheEventSource#of}, with a cache that has no server. */
@ExtendWith(NoLeaks.class)
class FakeCacheEventSourceTest {

    private final Website website = website();

    private static Website website() {
        Website website = new Website();
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace("shop")
                .withName("one")
                .withUid("uid-one")
                .withResourceVersion("1")
                .build());
        website.setSpec(new WebsiteSpec(List.of("db")));
        return website;
    }

    /** Of the parts of a context, those that the event source asks for. */
    private EventSourceContext<Website> context(KubernetesClient client, ConfigurationService configuration) {
        IndexerResourceCache<Website> primaries =
                answering(IndexerResourceCache.class, Map.of("list", Stream.of(website)));
        ControllerConfiguration<Website> controller =
                answering(ControllerConfiguration.class, Map.of("getConfigurationService", configuration));
        return new EventSourceContext<>(primaries, controller, client, Website.class);
    }

    @SuppressWarnings("unchecked") // the proxy is of the type that is asked for
    private static <T> T answering(Class<? super T> type, Map<String, Object> answers) {
        return (T) Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> answers.get(method.getName()));
    }

    @Test
    void of_fakeCache_givesSecondaries_andReconcilesTheirPrimaries() {
        ConfigurationService configuration = new BaseConfigurationService();
        try (KubernetesClient client = new KubernetesClientBuilder().build();
                FakePodcache cache = new FakePodcache()) {
            cache.put(Secrets.of("shop", "db", "v1"));
            PodcacheEventSource<Secret, Website> source = PodcacheEventSource.of(
                    context(client, configuration),
                    cache,
                    ObjectKind.SECRET,
                    primary -> Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")));
            List<String> reconciled = new CopyOnWriteArrayList<>();
            EventHandler handler = (Event event) ->
                    reconciled.add(event.getRelatedCustomResourceID().getName());
            source.setEventHandler(handler);
            source.start();
            assertThat(source.getSecondaryResources(website))
                    .extracting(Secrets::value)
                    .containsExactly("v1");
            reconciled.clear();
            cache.put(Secrets.of("shop", "db", "v2"));
            Patience.await().until(() -> reconciled.contains("one"));
            assertThat(cache.awaitSynced(Duration.ZERO)).isEmpty();
            source.stop();
            assertThat(cache.entries()).isEmpty();
        } finally {
            configuration.getExecutorServiceManager().stop(Duration.ofSeconds(10));
        }
    }

    @Test
    void onBehalfOf_givesWhatTheSubjectMayGet_andReconcilesWhenItsRightChanges() {
        Subject web = Subject.serviceAccount("shop", "web");
        AtomicReference<@Nullable Subject> subject = new AtomicReference<>(web);
        ConfigurationService configuration = new BaseConfigurationService();
        try (KubernetesClient client = new KubernetesClientBuilder().build();
                FakePodcache cache = new FakePodcache()) {
            cache.put(Secrets.of("shop", "db", "v1"));
            PodcacheEventSource<Secret, Website> source = PodcacheEventSource.of(
                            context(client, configuration),
                            cache,
                            ObjectKind.SECRET,
                            primary -> Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")))
                    .onBehalfOf(primary -> subject.get());
            BlockingQueue<String> reconciled = new LinkedBlockingQueue<>();
            EventHandler handler = (Event event) ->
                    reconciled.add(event.getRelatedCustomResourceID().getName());
            source.setEventHandler(handler);
            source.start();
            assertThat(source.getSecondaryResources(website))
                    .extracting(Secrets::value)
                    .containsExactly("v1");
            reconciled.clear();

            cache.deny(web, ObjectKind.SECRET, "shop", "db");
            Patience.await().until(() -> reconciled.contains("one"));
            assertThatExceptionOfType(Denied.class).isThrownBy(() -> source.getSecondaryResources(website));

            // a right that is lost and regained before its loss was told is no change
            Patience.await().until(() -> {
                cache.deny(web, ObjectKind.SECRET, "shop", "db");
                reconciled.clear();
                cache.allow(web, ObjectKind.SECRET, "shop", "db");
                return "one".equals(reconciled.poll(2, TimeUnit.SECONDS));
            });
            assertThat(source.getSecondaryResources(website)).hasSize(1);

            subject.set(null);
            assertThatExceptionOfType(Denied.class).isThrownBy(() -> source.getSecondaryResources(website));
            assertThatIllegalStateException().isThrownBy(() -> source.onBehalfOf(primary -> null));
            source.stop();
            subject.set(web);
            assertThat(source.getSecondaryResources(website)).hasSize(1);
            assertThat(cache.entries()).isEmpty();
        } finally {
            configuration.getExecutorServiceManager().stop(Duration.ofSeconds(10));
        }
    }
}
