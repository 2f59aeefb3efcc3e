package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.planner.SimulatedAgent.SimulatedWorld;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Effort;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.time.SimulatedTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Nodes in simulated time whose API server refuses every update of a Lease or a status from some moment on. The nodes
 * start one after the other, so that this moment hits their heartbeats anywhere. For one thread.
 */
final class RefusedHeartbeats {

    static final int NODES = Effort.NIGHTLY ? 200 : 40;
    private static final Duration COUNTED = Duration.ofMinutes(10);

    private final PlanSettings settings;
    private final SimulatedTimekeeper time = new SimulatedTimekeeper();
    private final Random random = new Random(1);
    private final List<RefusingServer> servers = new ArrayList<>();
    private final double updatesPerMinute;
    private boolean refusing;

    /**
     * Simulates the nodes until the grace period of each is over.
     *
     * @param statusReport the time between two reports of an unchanged status; the time between two updates, for older
     *     kubelets
     */
    RefusedHeartbeats(TuningProfile profile, Duration statusReport) {
        settings = PlanSettings.builder(1)
                .profile(profile)
                .statusReport(statusReport)
                .build();
        start();
        long before = updates();
        time.pass(COUNTED);
        updatesPerMinute = (double) (updates() - before) / NODES / COUNTED.toMinutes();
        refusing = true;
        time.pass(profile.grace());
        time.close();
    }

    private void start() {
        Duration starting =
                HeartbeatPlan.reportTick(settings).plus(settings.lease().interval());
        for (int i = 0; i < NODES; i++) {
            RefusingServer server = new RefusingServer();
            servers.add(server);
            new SimulatedAgent("node-" + i, settings, server, new SimulatedWorld(time, random::nextDouble)).start();
            time.pass(starting.dividedBy(NODES));
        }
        // the second report of a node may come two reports' time after its start
        time.pass(starting.multipliedBy(2));
    }

    private long updates() {
        return servers.stream().mapToLong(server -> server.statuses.accepted).sum();
    }

    /** Returns the updates of a node's status that succeeded, a minute. */
    double updatesPerMinute() {
        return updatesPerMinute;
    }

    /** Returns how often the nodes tried to write their status in their grace period, which begins with the last success. */
    IntSummaryStatistics statusTries() {
        return tries(server -> server.statuses);
    }

    /** Returns how often the nodes tried to renew their Lease in their grace period. */
    IntSummaryStatistics leaseTries() {
        return tries(server -> server.renewals);
    }

    private IntSummaryStatistics tries(Function<RefusingServer, RefusableWrites> kind) {
        return servers.stream().mapToInt(server -> kind.apply(server).tries).summaryStatistics();
    }

    /** The heartbeats of one kind of one node. */
    private final class RefusableWrites {

        long accepted;
        int tries;
        private long lastAccepted;

        <T> CompletableFuture<T> write(Supplier<CompletableFuture<T>> request) {
            if (!refusing) {
                accepted++;
                lastAccepted = time.nanoTime();
                return request.get();
            }
            if (time.nanoTime() - lastAccepted < settings.profile.grace().toNanos()) {
                tries++;
            }
            return CompletableFuture.failedFuture(
                    new ApiServerException(FailureReason.UNAVAILABLE, 500, null, "for the test", null));
        }
    }

    /** The API server of one node. */
    private final class RefusingServer implements SimulatedAgent.SimulatedApis {

        final RefusableWrites statuses = new RefusableWrites();
        final RefusableWrites renewals = new RefusableWrites();
        private final SimulatedServer server =
                new SimulatedServer(new ClusterCache(new ControllerLoop(time)), time, new DeathRecord(time));

        @Override
        public ObjectApi<Node> nodeApi() {
            return new ForwardingObjectApi<>(server.nodeApi()) {
                @Override
                public CompletableFuture<Node> patchStatus(ObjectKey key, String patch) {
                    return statuses.write(() -> super.patchStatus(key, patch));
                }
            };
        }

        @Override
        public ObjectApi<Lease> leaseApi() {
            return new ForwardingObjectApi<>(server.leaseApi()) {
                @Override
                public CompletableFuture<Lease> update(Lease lease) {
                    return renewals.write(() -> super.update(lease));
                }
            };
        }

        @Override
        public @Nullable Node node(String name) {
            return server.node(name);
        }
    }
}
