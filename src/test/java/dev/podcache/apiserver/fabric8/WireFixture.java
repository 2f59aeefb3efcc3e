package dev.podcache.apiserver.fabric8;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;

/** Requests of every kind to a server in this process. */
@NullUnmarked
abstract class WireFixture {

    /** Long enough for any request that is answered, and shorter than the patience of tests. */
    static final Duration TIMEOUT = Duration.ofSeconds(20);

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration LEASE = Duration.ofSeconds(80);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    Fabric8ApiServer api;
    private Heartbeats heartbeats;

    /** The kinds of request that the transport carries. */
    enum RequestKind {
        GET,
        LIST,
        WATCH,
        PATCH,
        HEARTBEAT
    }

    @AfterEach
    void tearDown() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** Has {@code resource} closed after the test, and before those that were given earlier. */
    <T extends AutoCloseable> T closeLater(T resource) {
        open.push(resource);
        return resource;
    }

    /** Makes {@link #api} from a configuration. */
    void connect(Config config) {
        connect(config, Timekeeper.system());
    }

    /** Makes {@link #api} from a configuration, on the time of a test. */
    void connect(Config config, Timekeeper time) {
        connect(config, time, http -> {});
    }

    /** Makes {@link #api} from a client whose HTTP client is {@code changed}. */
    void connect(Config config, Timekeeper time, Consumer<HttpClient.Builder> changed) {
        KubernetesClient client = closeLater(new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientBuilderConsumer(changed)
                .build());
        api = closeLater(new Fabric8ApiServer(client, new RequestLimit(10_000, 10_000), time));
        heartbeats = api.heartbeats(LEASE);
    }

    /** A configuration of {@code url} that trusts the authority of the tests. */
    static ConfigBuilder config(String url) {
        return new ConfigBuilder(Config.empty())
                .withMasterUrl(url)
                .withCaCertData(WireCertificates.base64(WireCertificates.authorityPem()));
    }

    /**
     * Makes one request.
     *
     * @param name of the object that it is about
     * @return completes when it is answered; a watch, when it is open
     */
    CompletableFuture<?> make(RequestKind call, String name) {
        return switch (call) {
            case GET -> get(name, TIMEOUT);
            case LIST -> list(name, TIMEOUT);
            case WATCH -> watch(name);
            case PATCH -> api.api(ObjectKind.POD, TIMEOUT).patchStatus(ObjectKey.of("shop", name), "{\"status\":{}}");
            case HEARTBEAT -> heartbeat(name);
        };
    }

    CompletableFuture<?> get(String name, Duration timeout) {
        return api.getter(ObjectKind.CONFIG_MAP).get(ObjectKey.of("shop", name), ReadSource.QUORUM, timeout);
    }

    CompletableFuture<Listed<ConfigMap>> list(String name, Duration timeout) {
        return following(name).list(timeout);
    }

    /** Opens a watch, which lives as long as the test. */
    CompletableFuture<?> watch(String name) {
        return watch(name, end -> {});
    }

    /** Opens a watch, and calls {@code end} when it ends. */
    CompletableFuture<?> watch(String name, Consumer<WatchEvent.Ended<ConfigMap>> end) {
        CompletableFuture<Void> opened = new CompletableFuture<>();
        following(name).watch("7", HOUR, event -> {
            if (event instanceof WatchEvent.Opened) {
                opened.complete(null);
            } else if (event instanceof WatchEvent.Ended<ConfigMap> ended) {
                end.accept(ended);
                opened.completeExceptionally(
                        ended.failure() == null ? new AssertionError("ended before it was open") : ended.failure());
            }
        });
        return opened;
    }

    ListerWatcher<ConfigMap> following(String name) {
        return api.listerWatcher(ObjectKind.CONFIG_MAP, "shop", "metadata.name=" + name);
    }

    private CompletableFuture<?> heartbeat(String name) {
        return heartbeats
                .leases()
                .update(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace("kube-node-lease")
                        .withName(name)
                        .endMetadata()
                        .build());
    }

    /** Waits for the failure of a request. */
    static ApiServerException failureOf(CompletableFuture<?> request) throws InterruptedException {
        try {
            request.get(Patience.SECONDS, SECONDS);
        } catch (ExecutionException failed) {
            return (ApiServerException) failed.getCause();
        } catch (TimeoutException late) {
            throw new AssertionError("a request does not end", late);
        }
        throw new AssertionError("a request was answered that was to fail");
    }

    /** Waits for the answer. Throws an error if the request fails. */
    static <T> T answerOf(CompletableFuture<T> request) throws InterruptedException {
        try {
            return request.get(Patience.SECONDS, SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("a request failed: " + failed.getCause(), failed);
        } catch (TimeoutException late) {
            throw new AssertionError("a request does not end", late);
        }
    }
}
