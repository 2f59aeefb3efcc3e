package dev.podcache.cli.demo;

import dev.podcache.cli.observe.ReportedNode;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.StatusException;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The last act of the demo: a node agent as {@code run} starts it, and a pod that waits for its Secret. Uses its own API
 * server, so that its requests are not counted with those of the strategies.
 */
final class DemoNode {

    /** The usual length of the act. */
    static final Duration LENGTH = Duration.ofSeconds(5);

    private static final String NAME = "hollow-1";
    private static final KubeletConfiguration CONFIGURATION = KubeletConfiguration.DEFAULT.withoutEndpoint();
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration PAUSE = Duration.ofMillis(700);

    private final DemoCluster cluster;
    private final EventWriter events;
    private final Console console;
    private final long maxPolls;

    /** @param timeout for each step, which usually takes a fraction of a second */
    DemoNode(DemoCluster cluster, EventWriter events, Console console, Duration timeout) {
        this.cluster = cluster;
        this.events = events;
        this.console = console;
        this.maxPolls = timeout.dividedBy(POLL);
    }

    /** Plays the act. Returns early if the user ends the demo. */
    void play() {
        events.heading("A node agent (podcache run) with these caches: node " + NAME
                + " registers itself. It gets a pod whose Secret does not exist yet.");
        try (EmbeddedApiServer server = EmbeddedApiServer.start(cluster.cluster());
                KubernetesClient client = DemoCluster.client(server.url());
                ReportedNode node = new ReportedNode(NAME, CONFIGURATION, NodeAgent.builder(client), events)) {
            node.start();
            play(node.agent());
        }
    }

    private void play(NodeAgent agent) {
        List<HasMetadata> objects = DemoCluster.load("demo-node.yaml");
        HasMetadata pod = objects.get(0);
        boolean more = until(
                () -> agent.node().isPresent() && agent.status().lastReport().isPresent());
        if (more) {
            did("created Pod shop/early-0", () -> cluster.create(pod));
            more = until(() -> phase().equals("Pending")) && console.await(PAUSE, events);
        }
        if (more) {
            did("created Secret shop/late", () -> cluster.create(objects.get(1)));
            more = until(() -> phase().equals("Running")) && console.await(PAUSE, events);
        }
        if (more) {
            did("deleted Pod shop/early-0, gracefully", () -> cluster.cluster().delete(pod));
            until(() -> phase().equals("deleted"));
        }
    }

    /** Returns the phase of the pod, "deleted" if there is no pod, or "" if it has no status. */
    private String phase() {
        try {
            Pod pod = cluster.cluster().get(Pod.class, "shop", "early-0");
            return pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
        } catch (StatusException notFound) {
            return "deleted";
        }
    }

    private void did(String what, Runnable change) {
        events.write(ProgramEvent.of("cluster", "did", what));
        change.run();
    }

    /** Waits for the condition, or the timeout. Returns false if the user ends the demo before. */
    private boolean until(BooleanSupplier condition) {
        for (int poll = 0; poll < maxPolls && !condition.getAsBoolean(); poll++) {
            if (!console.await(POLL, events)) {
                return false;
            }
        }
        return !console.stop().isDone();
    }
}
