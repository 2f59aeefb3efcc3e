package dev.podcache;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.common.base.Ascii;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Reads Secrets and ConfigMaps that hold the canary, over real HTTP, through every failure there is, and shows {@link
 * NoLeaks} all that a user gets to see but the objects themselves.
 */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class SecretsHygieneTest {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final Set<FailureReason> failures = ConcurrentHashMap.newKeySet();
    private EmbeddedApiServer server;
    private KubernetesClient client;
    private Podcache cache;

    @BeforeEach
    void start(NoLeaks noLeaks) {
        noLeaks.allowWarnings("failed; retrying");
        noLeaks.allowWarnings("Node worker-1");
        server = EmbeddedApiServer.start(cluster);
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(server.url())
                .withOauthToken(NoLeaks.CANARY)
                .build();
        client = new KubernetesClientBuilder().withConfig(config).build();
        cluster.create(Secrets.of("shop", "db", "v1"));
        cluster.create(new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("settings")
                .endMetadata()
                .addToData("key", NoLeaks.CANARY)
                .build());
    }

    @AfterEach
    void stop() {
        cache.close();
        client.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }

    /** What goes wrong at the server. */
    enum ServerTrouble {
        UNAUTHORIZED(FailureReason.UNAUTHORIZED),
        FORBIDDEN(FailureReason.FORBIDDEN),
        GONE(FailureReason.EXPIRED),
        THROTTLED(FailureReason.THROTTLED),
        BROKEN(FailureReason.UNAVAILABLE),
        UNAVAILABLE(FailureReason.UNAVAILABLE),
        SLOW(FailureReason.TIMEOUT),
        CUT_OFF(FailureReason.UNAVAILABLE);

        /** How metrics name the failure of a request that met it. */
        final FailureReason seenAs;

        ServerTrouble(FailureReason seenAs) {
            this.seenAs = seenAs;
        }

        Faults.Switched on(Faults faults) {
            RequestPattern all = RequestPattern.any();
            return switch (this) {
                case UNAUTHORIZED -> faults.fail(StatusException.unauthorized(), all);
                case FORBIDDEN -> faults.fail(StatusException.forbidden(Resource.SECRETS, "db"), all);
                case GONE -> faults.fail(StatusException.gone(), all);
                case THROTTLED -> faults.fail(StatusException.tooManyRequests(1), all);
                case BROKEN -> faults.fail(StatusException.internalError(), all);
                case UNAVAILABLE -> faults.fail(StatusException.serviceUnavailable(), all);
                case SLOW -> faults.delay(Duration.ofSeconds(2), all);
                case CUT_OFF -> faults.refuse(all);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void everythingButTheObjects_throughAllFailures_showsNoPayload(ChangeDetectionStrategy strategy) throws Exception {
        PodcacheBuilder builder = builder(strategy).metrics(listener());
        NoLeaks.saw(builder);
        cache = builder.build();
        Pod pod = pod("web-1");
        see(cache);
        cache.registerPod(pod);
        see(cache);
        for (ServerTrouble trouble : ServerTrouble.values()) {
            failures.clear();
            int requests = server.requests().total();
            Faults.Switched on = trouble.on(server.faults());
            // a pod of its own, so that there is something to be read anew; under WATCH it is a watch that begins anew
            cache.registerPod(pod(trouble.name()));
            server.faults().resetWatches(RequestPattern.any());
            await().pollDelay(Duration.ZERO).until(() -> {
                see(cache.secrets(), "db");
                see(cache.configMaps(), "settings");
                return (strategy == ChangeDetectionStrategy.WATCH && trouble == ServerTrouble.SLOW)
                        ? server.requests().total() > requests
                        : failures.contains(trouble.seenAs);
            });
            on.close();
            cache.unregisterPod(pod(trouble.name()));
        }
        await().ignoreExceptions()
                .until(() ->
                        Secrets.value(cache.secrets().getObject("shop", "db")).equals("v1"));
        see(cache);
        Thread.currentThread().interrupt();
        see(cache);
        boolean stillInterrupted = Thread.interrupted();
        assertThat(stillInterrupted).isTrue();
        cluster.delete(Secrets.of("shop", "db", "v1"));
        see(cache);
        cache.close();
        see(cache);

        assertThat(told).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"CACHE", "WATCH"})
    void unregisterPod_last_makesPayloadsUnreachable(ChangeDetectionStrategy strategy) {
        cache = builder(strategy).build();
        Pod pod = pod("web-1");
        cache.registerPod(pod);
        List<WeakReference<? extends HasMetadata>> payloads =
                List.of(read(cache.secrets(), "db"), read(cache.configMaps(), "settings"));

        cache.unregisterPod(pod);

        awaitCollected(payloads);
    }

    @ParameterizedTest
    @EnumSource
    void close_makesPayloadsUnreachable(ChangeDetectionStrategy strategy) {
        cache = builder(strategy).build();
        cache.registerPod(pod("web-1"));
        List<WeakReference<? extends HasMetadata>> payloads =
                List.of(read(cache.secrets(), "db"), read(cache.configMaps(), "settings"));

        cache.close();

        awaitCollected(payloads);
        assertThat(cache.secrets()).isNotNull();
    }

    private PodcacheBuilder builder(ChangeDetectionStrategy strategy) {
        return Podcache.builder(client)
                .strategy(strategy)
                .node("worker-1")
                .defaultTtl(Duration.ZERO)
                .readTimeout(Duration.ofMillis(300))
                .firstSyncTimeout(Duration.ofMillis(300));
    }

    /** In a frame of its own, so that no variable of the test holds the object. */
    private static <T extends HasMetadata> WeakReference<T> read(Manager<T> manager, String name) {
        return new WeakReference<>(await().ignoreExceptions().until(() -> manager.getObject("shop", name), o -> true));
    }

    private static void awaitCollected(List<WeakReference<? extends HasMetadata>> payloads) {
        await().pollInterval(Duration.ofMillis(10)).until(() -> {
            System.gc();
            return payloads.stream().allMatch(payload -> payload.get() == null);
        });
    }

    /** All that there is to see of a cache: what gets throw, states, and what everything says of itself. */
    private static void see(Podcache cache) {
        NoLeaks.saw(cache);
        see(cache.secrets(), "db", "nobody", "No Name");
        see(cache.configMaps(), "settings", "nobody", "No Name");
    }

    private static void see(Manager<?> manager, String... names) {
        NoLeaks.saw(manager);
        for (String name : names) {
            Throwable thrown = catchThrowable(() -> manager.getObject("shop", name));
            if (thrown != null) {
                NoLeaks.saw(thrown);
            }
            if (thrown instanceof ObjectUnavailableException unavailable) {
                NoLeaks.saw(unavailable.key());
                NoLeaks.saw(unavailable.kind());
            }
            if (!name.contains(" ")) {
                NoLeaks.saw(manager.state("shop", name));
            }
        }
    }

    /** Sees each argument of each call. */
    private PodcacheMetrics listener() {
        return (PodcacheMetrics) Proxy.newProxyInstance(
                PodcacheMetrics.class.getClassLoader(),
                new Class<?>[] {PodcacheMetrics.class},
                (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == PodcacheMetrics.class) {
                        told.add(method.getName());
                        Arrays.stream(arguments)
                                .filter(FailureReason.class::isInstance)
                                .map(FailureReason.class::cast)
                                .forEach(failures::add);
                        NoLeaks.saw(Arrays.deepToString(arguments));
                        return null;
                    }
                    return switch (method.getName()) {
                        case "equals" -> proxy == arguments[0];
                        case "hashCode" -> System.identityHashCode(proxy);
                        default -> "listener";
                    };
                });
    }

    private static Pod pod(String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(Ascii.toLowerCase(name).replace('_', '-'))
                .withUid("uid-" + name)
                .endMetadata()
                .withNewSpec()
                .addNewVolume()
                .withName("a")
                .withNewSecret()
                .withSecretName("db")
                .endSecret()
                .endVolume()
                .addNewVolume()
                .withName("b")
                .withNewConfigMap()
                .withName("settings")
                .endConfigMap()
                .endVolume()
                .endSpec()
                .build();
    }
}
