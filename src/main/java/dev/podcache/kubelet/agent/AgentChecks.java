package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.kubelet.server.ComponentInfo;
import dev.podcache.kubelet.server.HealthCheck;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The checks of an agent. Those of {@code /livez} find a loop that has ended, which only a restart mends. They pass while
 * the API server is away, because a loop that waits for it sends requests again and again: no pause that a server may ask
 * for is longer than 2 min.
 */
final class AgentChecks {

    /** Longer than any pause between two requests of a loop, and than a run of the eviction loop. */
    static final Duration LIMIT = Duration.ofMinutes(5);

    private final Timekeeper timekeeper;
    private final ImmutableList.Builder<HealthCheck> live = ImmutableList.builder();
    private final ImmutableList.Builder<HealthCheck> ready = ImmutableList.builder();

    AgentChecks(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    List<HealthCheck> live() {
        return live.build();
    }

    List<HealthCheck> ready() {
        return ready.build();
    }

    /** The loop lives if it has ticked or sent a request not long ago. */
    AgentChecks lease(NodeLeaseController lease, CountedPorts counted) {
        live("lease", () -> shorter(lease.sinceTick(), counted.leases.sinceRequest()), LIMIT);
        ready("lease-renewed", () -> lease.sinceRenewal().isPresent(), "the Lease was not renewed yet");
        return this;
    }

    /** @param known whether the Node is known, for an agent that does not register it */
    AgentChecks node(
            NodeStatusUpdater updater, CountedPorts counted, KubeletConfiguration options, BooleanSupplier known) {
        live(
                "node-status",
                () -> shorter(updater.sinceTick(), counted.nodes.sinceRequest()),
                LIMIT.plus(options.heartbeats().statusUpdate()));
        boolean registers = options.registration().register();
        ready(
                "node-registered",
                () -> registers ? updater.state().registered() : known.getAsBoolean(),
                "the Node is not registered");
        return this;
    }

    AgentChecks eviction(Supplier<Duration> sinceTick) {
        live("eviction", sinceTick, LIMIT);
        return this;
    }

    /** Passes while the threads of the pod workers run tasks, however many calls of the runtime hang. */
    AgentChecks workers(TaskThreads threads) {
        live.add(new HealthCheck("pod-workers", new ThreadsCheck(threads, timekeeper)::problem));
        return this;
    }

    AgentChecks objects(StuckObjects stuck) {
        ready.add(new HealthCheck("objects", stuck::problem));
        return this;
    }

    /** Returns what an agent with these checks and options tells about itself. */
    ComponentInfo component(NodeAgent agent, NodeAgentOptions options) {
        ComponentInfo info = ComponentInfo.of("podcache", options.version())
                .withChecks(live(), ready())
                .withConfiguration(() -> EffectiveConfiguration.of(options.configuration()))
                .withFlags(options::flags);
        return options.scrape()
                .map(scrape -> info.withMetrics(scrape.apply(agent)))
                .orElse(info);
    }

    private void live(String name, Supplier<Duration> age, Duration limit) {
        live.add(new HealthCheck(name, () -> {
            Duration since = age.get();
            return since.compareTo(limit) > 0
                    ? Optional.of(
                            "no run for " + since.toSeconds() + " s; at most " + limit.toSeconds() + " s are expected")
                    : Optional.empty();
        }));
    }

    private void ready(String name, BooleanSupplier passes, String otherwise) {
        ready.add(new HealthCheck(name, () -> passes.getAsBoolean() ? Optional.empty() : Optional.of(otherwise)));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Hands the threads a task for each check that finds the one before done. Thread-safe. */
    private static final class ThreadsCheck {

        private final TaskThreads threads;
        private final Timekeeper timekeeper;
        private boolean waiting; // guarded by this, like the next
        private long since;

        ThreadsCheck(TaskThreads threads, Timekeeper timekeeper) {
            this.threads = threads;
            this.timekeeper = timekeeper;
        }

        Optional<String> problem() {
            long now = timekeeper.nanoTime();
            boolean hands;
            Duration waited;
            synchronized (this) {
                hands = !waiting;
                waited = Duration.ofNanos(waiting ? now - since : 0);
                if (hands) {
                    waiting = true;
                    since = now;
                }
            }
            if (hands) {
                threads.execute(this::done);
            }
            return waited.compareTo(LIMIT) > 0
                    ? Optional.of("a task waits for " + waited.toSeconds() + " s")
                    : Optional.empty();
        }

        private synchronized void done() {
            waiting = false;
        }
    }
}
