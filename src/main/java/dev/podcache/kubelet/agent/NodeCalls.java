package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.time.OverdueCalls;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The calls of a runtime that are about its node and not about one pod, apart from its health: while one of them hangs,
 * the node is not ready. Thread-safe.
 */
final class NodeCalls {

    /** Statistics are measured every 10 s, and a node whose runtime hangs must be not ready after 30 s. */
    private static final Duration LIMIT = Duration.ofSeconds(15);

    private final OverdueCalls listing;
    private final OverdueCalls statistics;

    /** @param changed called when a call hangs, and when it has returned; must not block */
    NodeCalls(Timekeeper timekeeper, Runnable changed) {
        this.listing = new OverdueCalls("PodRuntime.pods()", LIMIT, timekeeper, changed);
        this.statistics = new OverdueCalls("ContainerStatistics", LIMIT, timekeeper, changed);
    }

    /** Returns what notices when the runtime does not list its pods. */
    OverdueCalls listing() {
        return listing;
    }

    /** Returns the statistics of a runtime, whose calls are noticed when they hang. */
    ContainerStatistics noticed(ContainerStatistics runtime) {
        return new NoticedStatistics(runtime);
    }

    /** Returns the checks of the node's health. They do not block. */
    ImmutableMap<String, Supplier<Optional<String>>> checks() {
        return ImmutableMap.of(
                "the list of the runtime's pods", listing::problem,
                "the measurement of the runtime's pods", statistics::problem);
    }

    private final class NoticedStatistics implements ContainerStatistics {

        private final ContainerStatistics runtime;

        NoticedStatistics(ContainerStatistics runtime) {
            this.runtime = runtime;
        }

        @Override
        public List<PodUsage> usage() throws IOException {
            Timekeeper.Scheduled call = statistics.begin();
            try {
                return runtime.usage();
            } finally {
                call.cancel();
            }
        }

        @Override
        public RuntimeFileSystems fileSystems() throws IOException {
            Timekeeper.Scheduled call = statistics.begin();
            try {
                return runtime.fileSystems();
            } finally {
                call.cancel();
            }
        }
    }
}
