package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableMap;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.cli.RunCommand;
import dev.podcache.cli.config.KubeletSettings;
import dev.podcache.cli.config.Settings;
import dev.podcache.cli.observe.AgentAccount;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.Versions;
import dev.podcache.embedded.StatusException;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentOptions;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.runtime.HollowRuntime;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last act of the demo: a node of its own, as {@code run} makes it, and a pod on it that waits for its Secret. On a
 * server of its own, so that nothing of it is in the figures of the others.
 */
final class DemoNode {

    /** How long it usually takes. */
    static final Duration LENGTH = Duration.ofSeconds(5);

    private static final String NAME = "hollow-1";
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration PAUSE = Duration.ofMillis(700);

    private final DemoCluster cluster;
    private final Account account;
    private final Console console;
    private final long mostLooks;

    /**
     * Not played yet.
     *
     * @param patience with each step, which usually takes a fraction of a second
     */
    DemoNode(DemoCluster cluster, Account account, Console console, Duration patience) {
        this.cluster = cluster;
        this.account = account;
        this.console = console;
        this.mostLooks = patience.dividedBy(LOOK);
    }

    /** Plays it, unless the user wants an end before. */
    void play() {
        account.heading("The same caches in a whole node agent (run): node " + NAME
                + " registers itself, and gets a pod whose Secret is not there yet.");
        try (DemoServer server = new DemoServer(cluster);
                KubernetesClient client = server.client();
                Fabric8ApiServer apiServer = Fabric8ApiServer.of(client);
                Heartbeats heartbeats = apiServer.heartbeats(NodeLeaseOptions.DEFAULT_DURATION)) {
            NodeAgentOptions options = options(apiServer);
            NodePorts ports = NodePorts.of(apiServer, heartbeats, NAME);
            try (AgentAccount told = new AgentAccount(account, options);
                    NodeAgent agent = new NodeAgent(
                            ports,
                            options,
                            lister -> Caches.of(Podcache.builder(apiServer)
                                    .nodeLister(lister)
                                    .build()),
                            told.pods())) {
                agent.start();
                told.follow(agent);
                playWith(agent);
            }
        }
    }

    private void playWith(NodeAgent agent) {
        boolean wanted = until(
                () -> agent.node().isPresent() && agent.status().lastReport().isPresent());
        List<HasMetadata> objects = DemoCluster.load("demo-node.yaml");
        HasMetadata pod = objects.get(0);
        if (!wanted) {
            return;
        }
        did("created Pod shop/early-0", () -> cluster.create(pod));
        if (!until(() -> waits(true)) || !console.await(PAUSE, account)) {
            return;
        }
        did("created Secret shop/late", () -> cluster.create(objects.get(1)));
        if (until(() -> waits(false)) && console.await(PAUSE, account)) {
            did("deleted Pod shop/early-0, gracefully", () -> cluster.cluster().delete(pod));
            until(() -> early() == null);
        }
    }

    /** Whether the pod is pending, or runs. */
    private boolean waits(boolean pending) {
        Pod pod = early();
        String phase =
                pod == null || pod.getStatus() == null ? null : pod.getStatus().getPhase();
        return (pending ? "Pending" : "Running").equals(phase);
    }

    private @Nullable Pod early() {
        try {
            return cluster.cluster().get(Pod.class, "shop", "early-0");
        } catch (StatusException none) {
            return null;
        }
    }

    private void did(String what, Runnable change) {
        account.tell(new Event("cluster", what, ImmutableMap.of("did", what)));
        change.run();
    }

    /** Whether it came true, or our patience is over, before the user wanted an end. */
    private boolean until(BooleanSupplier condition) {
        for (int look = 0; look < mostLooks && !condition.getAsBoolean(); look++) {
            if (!console.await(LOOK, account)) {
                return false;
            }
        }
        return true;
    }

    private static NodeAgentOptions options(Fabric8ApiServer server) {
        return new NodeAgentOptions(
                NAME,
                KubeletSettings.configuration(Settings.NONE, Settings.NONE),
                HostFacts.ofThisMachine(Path.of("").toAbsolutePath().getRoot()),
                new HollowRuntime(server.timekeeper()),
                RunCommand.threads(),
                Versions.kubeletVersion());
    }
}
