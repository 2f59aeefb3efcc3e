package dev.podcache.cli.observe;

import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;

/** A node agent that reports what it does: changes of its Node and pods, reads, and watches. Used by one thread. */
public final class ReportedNode implements AutoCloseable {

    private static final Duration NODE_REPORTS = Duration.ofSeconds(1);
    private static final Duration READ_REPORTS = Duration.ofMinutes(1);

    private final KubeletConfiguration configuration;
    private final CacheReports caches;
    private final NodeReports node;
    private final NodeAgent agent;
    private List<Pod> lastPods = List.of();
    private boolean stopped;

    /**
     * Creates an agent that does not work until started.
     *
     * @param name the name of the node
     * @param options further options of the agent; its listeners are set here
     * @throws CommandException if this machine does not have what the configuration requires
     */
    public ReportedNode(String name, KubeletConfiguration configuration, NodeAgentBuilder options, EventWriter events) {
        this.configuration = configuration;
        this.caches = new CacheReports(events);
        this.node = new NodeReports(
                events, name, Duration.ofSeconds(configuration.heartbeats().leaseSeconds()));
        try {
            this.agent = options.node(name)
                    .configuration(configuration)
                    .metrics(caches.metrics())
                    .reads(caches::counted)
                    .listener(new PodReports(events))
                    .build();
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Starts the agent. Returns at once. */
    public void start() {
        agent.start();
        caches.every(NODE_REPORTS, () -> node.report(agent));
        caches.start(agent::pods, READ_REPORTS, READ_REPORTS);
    }

    public NodeAgent agent() {
        return agent;
    }

    /** Returns the totals, to be called after {@link #stop}. */
    public ProgramEvent summary() {
        return caches.summary(configuration.caching().strategy(), lastPods).event();
    }

    /** Ends the agent and reports the rest. Idempotent. */
    public void stop() {
        if (!stopped) {
            stopped = true;
            lastPods = agent.pods();
            agent.close();
            caches.close();
        }
    }

    @Override
    public void close() {
        stop();
    }
}
