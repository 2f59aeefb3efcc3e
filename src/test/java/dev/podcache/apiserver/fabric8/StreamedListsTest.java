package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which servers are asked for a list and a watch with one request, and when again after they refused. */
@Slow
@ExtendWith(NoLeaks.class)
class StreamedListsTest {

    private static final String NEW = "v1.36.0";
    private static final String OLD = "v1.20.2";
    private static final Duration BETWEEN_REQUESTS = Duration.ofSeconds(10);

    /**
     * Time that a test can let pass at once, for those who look at the clock. Counts the versions that workers have
     * decoded, because only then the answer is known.
     */
    private static final class ShiftedTime extends ForwardingTimekeeper {

        final AtomicLong shift = new AtomicLong();
        final AtomicInteger decodedVersions = new AtomicInteger();
        volatile @Nullable Thread decodesVersionNext;

        ShiftedTime() {
            super(Timekeeper.system());
        }

        @Override
        public long nanoTime() {
            return super.nanoTime() + shift.get();
        }

        @Override
        public Executor workers() {
            return task -> {
                boolean decodesVersion = Thread.currentThread().equals(decodesVersionNext);
                if (decodesVersion) {
                    decodesVersionNext = null;
                }
                super.workers().execute(() -> {
                    task.run();
                    if (decodesVersion) {
                        decodedVersions.incrementAndGet();
                    }
                });
            };
        }
    }

    private final ShiftedTime time = new ShiftedTime();
    private final InMemoryCluster cluster = InMemoryCluster.create(time);
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<String> paths = new CopyOnWriteArrayList<>();
    private volatile boolean versionAnswered;
    private volatile boolean versionFailed;
    private EmbeddedApiServer embedded = EmbeddedApiServer.start(cluster, 0, 100, NEW);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(embedded.url())
                    .build())
            .build();
    private final Fabric8ApiServer server = ServerOnTime.of(client, RequestLimit.DEFAULT, time, this::observed);
    private final Podcache cache = Podcache.builder(server)
            .strategy(ChangeDetectionStrategy.WATCH)
            .firstSyncTimeout(Duration.ofSeconds(60))
            .build();

    private void observed(ServerRequest request, int status) {
        boolean version = request.path().equals("/version");
        if (status == 0) {
            requests.add(version ? "version" : kindOf(request.path()));
            paths.add(request.path());
        } else if (version && status > 0) {
            versionAnswered = status == 200;
        } else if (version && versionAnswered) {
            // the end of a request hands its answer to a worker, on the same thread
            versionAnswered = false;
            time.decodesVersionNext = Thread.currentThread();
        } else if (version) {
            versionFailed = true;
        }
    }

    private static String kindOf(String path) {
        return path.contains("sendInitialEvents") ? "streamed list" : path.contains("watch=true") ? "watch" : "list";
    }

    @AfterEach
    void tearDown() {
        cache.close();
        server.close();
        client.close();
        embedded.close();
        cluster.close();
    }

    @ParameterizedTest
    @CsvSource({
        "v1.20.0, false",
        "v1.26.0, false",
        "v1.27.0, false",
        "v1.31.0, false",
        "v1.32.0, true",
        "v1.33.0, false",
        "v1.34.0, true",
        "v1.100.0, true",
        "v2.0.0, true"
    })
    void version_decides(String version, boolean streams) {
        restart(version);
        learnVersion();
        requests.clear();

        read("db");

        assertThat(requests).isEqualTo(streams ? List.of("streamed list") : List.of("list", "watch"));
    }

    @Test
    void newServer_isAskedForItsVersionOnceAndThenMakesOneRequestForAnObject() {
        learnVersion();
        assertThat(requests).containsExactlyInAnyOrder("version", "list", "watch");
        requests.clear();

        assertThat(read("db")).isEqualTo("db");
        assertThat(requests).containsExactly("streamed list");
    }

    @Test
    void newServer_objectThatIsAbsent_isKnownToBeWithOneRequest() {
        learnVersion();
        requests.clear();
        cache.registerPod(Pods.withSecrets("shop", "pod-absent", "uid-absent", "absent"));

        assertThat(cache.secrets().findObject("shop", "absent")).isEmpty();
        assertThat(requests).containsExactly("streamed list");
        cluster.create(Secrets.of(ObjectKey.of("shop", "absent"), "there"));
        await().until(() -> cache.secrets().findObject("shop", "absent").isPresent());
        assertThat(requests).containsExactly("streamed list");
    }

    @Test
    void oldServer_isAskedForItsVersionOnceAndThenListed() {
        restart(OLD);
        learnVersion();
        requests.clear();
        read("a");
        read("b");

        assertThat(requests).containsExactly("list", "watch", "list", "watch");
    }

    @Test
    void serverThatRefuses_isListedUntilItWasRestarted(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        learnVersion();
        requests.clear();
        embedded.faults().failNext(1, featureIsOff(), RequestPattern.any().verb(Verb.WATCH));

        read("a");
        read("b");

        assertThat(requests).containsExactly("streamed list", "list", "watch", "list", "watch");
        restart(NEW);
        pass(BETWEEN_REQUESTS);
        learnVersion();
        read("c");
        assertThat(requestsFor("c")).containsExactly("streamed list");
    }

    @Test
    void serverThatWasUpgraded_isAskedForItsVersionAgain(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        restart(OLD);
        learnVersion();
        restart(NEW);
        read("soon");
        read("also-soon");
        assertThat(requestsFor("also-soon")).as("at most one question in 10 s").containsExactly("list", "watch");

        pass(BETWEEN_REQUESTS);
        learnVersion();
        read("later");
        assertThat(requestsFor("later")).containsExactly("streamed list");
    }

    /** The first list is a plain one if the version is not known yet. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void listIsForbidden_objectIsReadWithTheVerbWatchAlone(boolean versionIsKnown, NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        if (versionIsKnown) {
            learnVersion();
        }
        for (Verb verb : new Verb[] {Verb.LIST, Verb.GET}) {
            embedded.faults()
                    .fail(
                            StatusException.forbidden(Resource.SECRETS, "db"),
                            RequestPattern.any().verb(verb));
        }

        assertThat(read("db")).isEqualTo("db");
        cluster.update(Secrets.of(ObjectKey.of("shop", "db"), "changed"));
        await().until(() ->
                Secrets.value(cache.secrets().getObject("shop", "db")).equals("changed"));
    }

    @Test
    void watchCacheThatLags_isListedInstead() {
        learnVersion();
        requests.clear();
        cluster.holdWatchCache();
        cluster.create(Secrets.of(ObjectKey.of("shop", "new"), "new"));
        cache.registerPod(Pods.withSecrets("shop", "pod-new", "uid-new", "new"));

        assertThat(Secrets.value(cache.secrets().getObject("shop", "new"))).isEqualTo("new");
        assertThat(requests).containsExactly("streamed list", "list", "watch");
        cluster.releaseWatchCache();
    }

    /** Without those of other objects, whose lost watches are resumed and confirmed meanwhile. */
    private List<String> requestsFor(String name) {
        return paths.stream()
                .filter(path ->
                        path.contains("metadata.name%3D" + name + "&") || path.endsWith("metadata.name%3D" + name))
                .map(StreamedListsTest::kindOf)
                .toList();
    }

    /** Reads an object, and waits for the answer to the question for the version that this raises. */
    private void learnVersion() {
        int before = time.decodedVersions.get();
        read("first-" + before);
        await().until(() -> {
            if (versionFailed) {
                // it met a server that was being restarted, and is asked again 10 s later
                versionFailed = false;
                pass(BETWEEN_REQUESTS);
                read("again-" + paths.size());
            }
            return time.decodedVersions.get() > before;
        });
    }

    private String read(String name) {
        cluster.create(Secrets.of(ObjectKey.of("shop", name), name));
        cache.registerPod(Pods.withSecrets("shop", "pod-" + name, "uid-" + name, name));
        return Secrets.value(cache.secrets().getObject("shop", name));
    }

    private void restart(String version) {
        int port = embedded.port();
        embedded.close();
        embedded = EmbeddedApiServer.start(cluster, port, 100, version);
    }

    private void pass(Duration duration) {
        time.shift.addAndGet(duration.toNanos());
    }

    private static StatusException featureIsOff() {
        return new StatusException(new StatusBuilder()
                .withStatus("Failure")
                .withCode(422)
                .withReason("Invalid")
                .withMessage("sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
                .build());
    }
}
