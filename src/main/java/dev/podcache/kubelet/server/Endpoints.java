package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerAttach;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerLogs;
import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.PodPortForward;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodListBuilder;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers requests that are allowed. Thread-safe. */
final class Endpoints {

    private static final Logger log = LoggerFactory.getLogger(Endpoints.class);

    /** Logs that are followed, commands that run and ports that are forwarded, each of which needs up to three threads. */
    static final int MOST_STREAMS = 256;

    private static final Set<String> COMMANDS = Set.of("exec", "attach", "portForward");

    private final Sources sources;
    private final ComponentPages component;
    private final Timekeeper timekeeper;
    private final Instant startedAt;
    private final UsageTotals totals = new UsageTotals();
    private final Semaphore streams = new Semaphore(MOST_STREAMS);

    /**
     * What the answers are made of. The suppliers may block.
     *
     * @param health why the node is unhealthy; empty if it is healthy
     * @param page empty if the node has none
     */
    record Sources(
            String node,
            ComponentInfo component,
            Supplier<List<Pod>> pods,
            Supplier<Optional<String>> health,
            PodRuntime runtime,
            Supplier<List<ProbeSeries>> probes,
            Optional<NodePage> page) {}

    Endpoints(Sources sources, Timekeeper timekeeper) {
        this.sources = sources;
        this.component =
                new ComponentPages(sources.component(), List.of(new HealthCheck("node", sources.health())), timekeeper);
        this.timekeeper = timekeeper;
        this.startedAt = timekeeper.wallTime();
    }

    /**
     * Answers a request. May block.
     *
     * @throws RefusedException if it cannot be answered; the message says why
     */
    KubeletResponse answer(KubeletRequest request) throws IOException {
        String first = Authorization.firstSegment(request.path());
        if (!request.method().equals("GET") && !(request.method().equals("POST") && isPosted(first))) {
            throw new RefusedException(405, "the method " + Quoted.value(request.method()) + " is not supported here");
        }
        return switch (first) {
            case "containerLogs" -> logs(request);
            case "exec" -> exec(request);
            case "attach" -> attach(request);
            case "portForward" -> portForward(request);
            default -> content(request);
        };
    }

    private static boolean isPosted(String first) {
        return COMMANDS.contains(first) || first.equals("stats");
    }

    private KubeletResponse content(KubeletRequest request) throws IOException {
        String path = request.path();
        return switch (path.endsWith("/") ? path.substring(0, path.length() - 1) : path) {
            case "/pods", "/runningpods" -> pods(path.startsWith("/running"));
            case "/metrics/resource" -> resourceMetrics();
            case "/metrics/cadvisor" -> cadvisorMetrics();
            case "/metrics/probes" ->
                KubeletResponse.metrics(ProbeSeries.text(sources.probes().get()));
            case "/stats/summary" -> summary(request);
            case "/ui", "/ui/state" -> page(request);
            default ->
                component
                        .answer(request, true)
                        .orElseThrow(() -> new RefusedException(
                                404,
                                "no such endpoint; this node has /healthz, /livez, /readyz, /metrics, /metrics/resource,"
                                        + " /metrics/cadvisor, /metrics/probes, /configz, /statusz, /flagz, /pods, /runningpods, /stats/summary,"
                                        + " /debug/objects, /ui, /containerLogs, /exec, /attach and /portForward"));
        };
    }

    private KubeletResponse page(KubeletRequest request) throws IOException {
        NodePage page = sources.page().orElseThrow(() -> new RefusedException(404, "this node has no page"));
        return page.answer(request);
    }

    private KubeletResponse pods(boolean onlyRunning) {
        List<Pod> pods = sources.pods().get().stream()
                .filter(pod -> !onlyRunning || isRunning(pod))
                .toList();
        return KubeletResponse.json(AnswerJson.bytes(new PodListBuilder()
                .withItems(pods)
                .withNewMetadata()
                .endMetadata()
                .build()));
    }

    private static boolean isRunning(Pod pod) {
        return pod.getStatus() != null
                && pod.getStatus().getContainerStatuses().stream()
                        .anyMatch(container -> container.getState() != null
                                && container.getState().getRunning() != null);
    }

    private KubeletResponse resourceMetrics() {
        ContainerStatistics statistics = statistics();
        try {
            long begun = totals.begin();
            List<ContainerStatistics.PodUsage> usage = statistics.usage();
            return KubeletResponse.metrics(ResourceMetrics.of(totals.add(usage, begun), usage, timekeeper.wallTime()));
        } catch (IOException | RuntimeException e) {
            log.warn("measuring the containers failed; /metrics/resource reports scrape_error 1", e);
            return KubeletResponse.metrics(ResourceMetrics.failed());
        }
    }

    private KubeletResponse cadvisorMetrics() {
        ContainerStatistics statistics = statistics();
        try {
            long begun = totals.begin();
            List<ContainerStatistics.PodUsage> usage = statistics.usage();
            return KubeletResponse.metrics(CadvisorMetrics.of(
                    totals.add(usage, begun), usage, sources.pods().get(), timekeeper.wallTime()));
        } catch (IOException | RuntimeException e) {
            log.warn("measuring the containers failed; /metrics/cadvisor reports container_scrape_error 1", e);
            return KubeletResponse.metrics(CadvisorMetrics.failed());
        }
    }

    private KubeletResponse summary(KubeletRequest request) throws IOException {
        ContainerStatistics statistics = statistics();
        long begun = totals.begin();
        List<ContainerStatistics.PodUsage> usage = statistics.usage();
        String only = String.valueOf(request.parameter("only_cpu_and_memory"));
        StatsSummary.SummaryScope scope = new StatsSummary.SummaryScope(
                sources.node(), startedAt, only.toLowerCase(Locale.ROOT).equals("true"));
        return KubeletResponse.json(
                AnswerJson.bytes(StatsSummary.of(scope, totals.add(usage, begun), usage, timekeeper.wallTime())));
    }

    private ContainerStatistics statistics() {
        if (sources.runtime() instanceof ContainerStatistics statistics) {
            return statistics;
        }
        throw new RefusedException(501, "the container runtime of this node does not measure what containers use");
    }

    private KubeletResponse logs(KubeletRequest request) throws IOException {
        Optional<ContainerLogs> logs = capability(ContainerLogs.class);
        Runnable release = begin(1);
        boolean opened = false;
        try {
            KubeletResponse response = new KubeletResponse.Streamed(
                    LogEndpoint.open(request, sources.pods().get(), logs, timekeeper.wallTime()), release);
            opened = true;
            return response;
        } finally {
            if (!opened) {
                release.run();
            }
        }
    }

    private KubeletResponse exec(KubeletRequest request) {
        ExecRequest command = ExecEndpoint.command(request, sources.pods().get(), capability(ContainerExec.class));
        return new KubeletResponse.Upgrade(command, begin(1));
    }

    private KubeletResponse attach(KubeletRequest request) {
        ExecRequest attachment =
                ExecEndpoint.attachment(request, sources.pods().get(), capability(ContainerAttach.class));
        return new KubeletResponse.Upgrade(attachment, begin(1));
    }

    private KubeletResponse portForward(KubeletRequest request) {
        PortForwardRequest forward =
                PortForwardEndpoint.ports(request, sources.pods().get(), capability(PodPortForward.class));
        return new KubeletResponse.Upgrade(forward, begin(forward.ports().size()));
    }

    private <T> Optional<T> capability(Class<T> type) {
        return type.isInstance(sources.runtime()) ? Optional.of(type.cast(sources.runtime())) : Optional.empty();
    }

    /** Counts streams, and returns what counts their end, of which only the first run has an effect. */
    private Runnable begin(int count) {
        if (!streams.tryAcquire(count)) {
            throw new RefusedException(
                    503,
                    "this node serves " + MOST_STREAMS
                            + " logs, commands and ports already; end one of them, or try again later");
        }
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (ended.compareAndSet(false, true)) {
                streams.release(count);
            }
        };
    }
}
