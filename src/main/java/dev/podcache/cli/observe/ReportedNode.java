package dev.podcache.cli.observe;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.cli.output.Versions;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentOptions;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.node.NodeLister;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A node agent that reports what it does: changes of its Node and pods, reads, and watches. */
public final class ReportedNode implements AutoCloseable {

    private static final Duration NODE_REPORTS = Duration.ofMillis(200);
    private static final Duration READ_REPORTS = Duration.ofMinutes(1);
    private static final int SYNC_THREADS = 8;

    private final NodeAgentOptions options;
    private final CacheReports caches;
    private final NodeReports node;
    private final NodeAgent agent;
    private final PeriodicTasks tasks = new PeriodicTasks("node-reports", 1);
    private List<Pod> lastPods = List.of();
    private boolean stopped;

    /**
     * Creates an agent that does not work until started.
     *
     * @param server used for everything, not closed
     * @throws CommandException if this machine does not have what the options require
     */
    public ReportedNode(Fabric8ApiServer server, Heartbeats heartbeats, NodeAgentOptions options, EventWriter events) {
        this.options = options;
        this.caches = new CacheReports(events);
        this.node = new NodeReports(
                events,
                options.node(),
                Duration.ofSeconds(options.configuration().heartbeats().leaseSeconds()));
        try {
            this.agent = new NodeAgent(
                    NodePorts.of(server, heartbeats, options.node()),
                    options,
                    lister -> caches.counted(Caches.of(cache(server, lister))),
                    new PodReports(events));
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns the options of an agent that is a node of this machine. */
    public static NodeAgentOptions options(String node, KubeletConfiguration configuration, PodRuntime runtime) {
        return new NodeAgentOptions(
                node,
                configuration,
                HostFacts.ofThisMachine(Path.of("").toAbsolutePath().getRoot()),
                runtime,
                time -> TaskThreads.named("podcache-pod", SYNC_THREADS, time),
                Versions.kubeletVersion());
    }

    /** Starts the agent. Returns at once. */
    public void start() {
        agent.start();
        tasks.every(Duration.ZERO, NODE_REPORTS, () -> node.report(agent));
        caches.start(agent::pods, READ_REPORTS, READ_REPORTS);
    }

    public NodeAgent agent() {
        return agent;
    }

    /** Returns the totals, to be called after {@link #stop}. */
    public ProgramEvent summary() {
        return caches.summary(options.configuration().caching().strategy(), lastPods)
                .event();
    }

    /** Ends the agent and reports the rest. Idempotent. */
    public void stop() {
        if (!stopped) {
            stopped = true;
            lastPods = agent.pods();
            agent.close();
            tasks.close();
            caches.close();
        }
    }

    @Override
    public void close() {
        stop();
    }

    private Podcache cache(Fabric8ApiServer server, NodeLister lister) {
        return options.configuration()
                .caching()
                .applyTo(Podcache.builder(server))
                .nodeLister(lister)
                .metrics(caches.metrics())
                .build();
    }
}
