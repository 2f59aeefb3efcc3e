package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How far apart the renewals of a lease of 40 s are at the server, whatever happens on the way: real connections on
 * loopback, in hand-driven time. Time passes only when all that a moment leads to has happened.
 */
@ExtendWith(NoLeaks.class)
class HeartbeatFaultsTest {

    private static final Duration LEASE = Duration.ofSeconds(40);
    private static final Duration STEP = Duration.ofMillis(50);

    /**
     * A pause between renewals with all its jitter, and the longest that one heartbeat may take: one step for rounding.
     */
    private static final Duration GOAL = Duration.ofMillis(20_400).plus(STEP);

    private static final Duration LATE_BY_THE_FIRST_TIMEOUT =
            Duration.ofMillis(13_400).plus(STEP);

    private static final int REPORTS = 5;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final HeartbeatServer network = new HeartbeatServer(time);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(network.url())
                    .build())
            .build();
    private final Fabric8ApiServer server = new Fabric8ApiServer(client, RequestLimit.DEFAULT, time);
    private final Heartbeats heartbeats = server.heartbeats(LEASE);
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final ObjectApi<Node> nodes = new Counted<>(heartbeats.nodes());
    private final NodeLeaseController controller = new NodeLeaseController(
            new Counted<>(heartbeats.leases()), nodes, new NodeLeaseOptions("n", LEASE, heartbeats::reconnect), time);

    @AfterEach
    void tearDown() {
        controller.stopAsync().awaitTerminated();
        server.close();
        client.close();
        network.close();
        time.close();
    }

    @Test
    void connectionFreezes_atAnyMoment_renewalsAreLateByOneTimeout() {
        start();

        atAnyMoment(() -> network.freeze(false));

        assertThat(longestGap()).isLessThanOrEqualTo(LATE_BY_THE_FIRST_TIMEOUT);
    }

    @Test
    void answersNoLongerComeBack_atAnyMoment_renewalsAreLateByOneTimeout() {
        start();

        atAnyMoment(() -> network.freeze(true));

        assertThat(longestGap()).isLessThanOrEqualTo(LATE_BY_THE_FIRST_TIMEOUT);
    }

    @Test
    void connectionFreezes_whileReportsAreMade_renewalsAreLateByOneTimeout() {
        start();
        reportForEver();

        atAnyMoment(() -> network.freeze(false));

        assertThat(longestGap()).isLessThanOrEqualTo(LATE_BY_THE_FIRST_TIMEOUT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void serverTakesFourSecondsAnAnswer_renewalsAreWithinTheGoal(boolean commitsFirst) {
        start();
        pass(Duration.ofSeconds(15));

        network.answerAfter(Duration.ofSeconds(4), commitsFirst);
        pass(Duration.ofMinutes(5));

        assertThat(longestGap()).isLessThanOrEqualTo(GOAL);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void serverTakesFourSecondsAnAnswer_whileReportsAreMade_leaseNeverLapses(boolean commitsFirst) {
        start();
        reportForEver();
        pass(Duration.ofSeconds(15));

        network.answerAfter(Duration.ofSeconds(4), commitsFirst);
        pass(Duration.ofMinutes(5));

        assertThat(longestGap()).isLessThanOrEqualTo(GOAL);
    }

    @Test
    void reportsAreNeverAnswered_leaseIsLateByOneTimeoutAtMost() {
        start();
        reportForEver();
        pass(Duration.ofSeconds(15));

        network.ignoreReports();
        pass(Duration.ofMinutes(10));

        assertThat(longestGap()).isLessThanOrEqualTo(GOAL);
    }

    private void start() {
        controller.startAsync().awaitRunning();
        pass(STEP);
    }

    /** Once in each second of a pause between two renewals, with time to recover. */
    private void atAnyMoment(Runnable fault) {
        for (int second = 0; second <= 10; second++) {
            pass(Duration.ofSeconds(30 + second)); // about three pauses, and so another moment of the round each time
            fault.run();
        }
        pass(Duration.ofSeconds(31));
    }

    /** The node's status, as its updater does it: every 10 s, five tries back to back if need be. */
    private void reportForEver() {
        report(0).whenComplete((done, thrown) -> time.schedule(Duration.ofSeconds(10), this::reportForEver));
    }

    private CompletableFuture<Node> report(int failures) {
        return nodes.patchStatus(ObjectKey.of("", "n"), "{}")
                .exceptionallyCompose(
                        thrown -> failures < REPORTS ? report(failures + 1) : CompletableFuture.failedFuture(thrown));
    }

    private void pass(Duration duration) {
        long end = time.nanoTime() + duration.toNanos();
        while (time.nanoTime() < end) {
            time.advance(STEP);
            network.awaitQuiet(begun::get, ended::get);
        }
    }

    /** Between two renewals at the server, or the last one and now. */
    private Duration longestGap() {
        List<Duration> renewals = network.renewals();
        assertThat(renewals).hasSizeGreaterThan(3);
        Duration longest = Duration.ofNanos(time.nanoTime()).minus(renewals.get(renewals.size() - 1));
        for (int i = 1; i < renewals.size(); i++) {
            Duration gap = renewals.get(i).minus(renewals.get(i - 1));
            longest = gap.compareTo(longest) > 0 ? gap : longest;
        }
        return longest;
    }

    /** A call counts as ended when all that follows it at once has happened. */
    private <T> CompletableFuture<T> counted(Supplier<CompletableFuture<T>> call) {
        begun.incrementAndGet();
        CompletableFuture<T> result = new CompletableFuture<>();
        call.get().whenComplete((value, thrown) -> {
            if (thrown == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(thrown);
            }
            ended.incrementAndGet();
        });
        return result;
    }

    private final class Counted<T> implements ObjectApi<T> {

        private final ObjectApi<T> api;

        Counted(ObjectApi<T> api) {
            this.api = api;
        }

        @Override
        public CompletableFuture<T> get(ObjectKey key) {
            return counted(() -> api.get(key));
        }

        @Override
        public CompletableFuture<T> create(T object) {
            return counted(() -> api.create(object));
        }

        @Override
        public CompletableFuture<T> update(T object) {
            return counted(() -> api.update(object));
        }

        @Override
        public CompletableFuture<T> patch(ObjectKey key, String patch) {
            return counted(() -> api.patch(key, patch));
        }

        @Override
        public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
            return counted(() -> api.patchStatus(key, patch));
        }

        @Override
        public CompletableFuture<T> delete(ObjectKey key, String uid) {
            return counted(() -> api.delete(key, uid));
        }
    }
}
