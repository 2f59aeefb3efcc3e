package dev.podcache.cli;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.config.NodeOptions;
import dev.podcache.cli.observe.AgentAccount;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.CommandFailure;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.Versions;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentOptions;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.podsync.PodThreads;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code run}. */
@Command(
        name = "run",
        header = "Runs a node agent: a node of a real cluster.",
        mixinStandardHelpOptions = true,
        versionProvider = Versions.class,
        description = {
            "Registers the node and keeps its status and its lease, registers the pods that are assigned to it with"
                    + " the caches, resolves what they get from Secrets and ConfigMaps, and reports their status. It"
                    + " runs no containers: one counts as running once its configuration is there. Needs the"
                    + " permissions of a kubelet. Never use the name of a node that has a kubelet; to look at one,"
                    + " there is observe."
        },
        footer = {
            "",
            "Example:",
            "  podcache run --kubeconfig node.kubeconfig --hostname-override hollow-1 --node-labels zone=a"
        })
public final class RunCommand implements Callable<Integer> {

    private static final int SYNCED_AT_ONCE = 8;
    private static final ThreadFactory THREADS = new ThreadFactoryBuilder()
            .setNameFormat("agent-pod-%d")
            .setDaemon(true)
            .build();

    private final Console console;
    private final Function<Timekeeper, PodRuntime> runtime;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private NodeOptions node = new NodeOptions();

    RunCommand(Console console, Function<Timekeeper, PodRuntime> runtime) {
        this.console = console;
        this.runtime = runtime;
    }

    @Override
    public Integer call() {
        String name = node.name(console);
        console.logging().accept(output.verbose ? Level.DEBUG : Level.WARN);
        KubeletConfiguration configuration = node.configuration(agent);
        Config config = node.cluster(console);
        Duration lease = Duration.ofSeconds(configuration.heartbeats().leaseSeconds());
        try (KubernetesClient client = ClusterAccess.client(config);
                Fabric8ApiServer server = Fabric8ApiServer.of(client, configuration.rates());
                Heartbeats heartbeats = server.heartbeats(lease)) {
            FirstContact.with(server, name, config);
            NodeAgentOptions options = new NodeAgentOptions(
                    name,
                    configuration,
                    HostFacts.ofThisMachine(Path.of("").toAbsolutePath().getRoot()),
                    runtime.apply(server.timekeeper()),
                    threads(),
                    Versions.kubeletVersion());
            try (Account account = Account.unhurried(console.out(), output.format, System::nanoTime)) {
                account.tell(Event.started(name, configuration.caching().strategy(), config.getMasterUrl()));
                run(server, heartbeats, options, account);
            }
        }
        return 0;
    }

    public static PodThreads threads() {
        return new PodThreads(
                Executors.newFixedThreadPool(SYNCED_AT_ONCE, THREADS), Executors.newCachedThreadPool(THREADS));
    }

    private void run(Fabric8ApiServer server, Heartbeats heartbeats, NodeAgentOptions options, Account account) {
        NodePorts ports = NodePorts.of(server, heartbeats, options.node());
        try (AgentAccount told = new AgentAccount(account, options)) {
            Function<NodeLister, Caches> caches = lister -> told.seen(Caches.of(cache(server, options, lister, told)));
            try (NodeAgent running = agent(ports, options, caches, told)) {
                running.start();
                told.follow(running);
                console.await(agent.duration, account);
            }
            told.sumUp();
        }
    }

    private static NodeAgent agent(
            NodePorts ports, NodeAgentOptions options, Function<NodeLister, Caches> caches, AgentAccount told) {
        try {
            return new NodeAgent(ports, options, caches, told.pods());
        } catch (IllegalArgumentException impossible) {
            throw new CommandFailure(String.valueOf(impossible.getMessage()), impossible);
        }
    }

    private static Podcache cache(
            Fabric8ApiServer server, NodeAgentOptions options, NodeLister lister, AgentAccount told) {
        return options.configuration()
                .caching()
                .applyTo(Podcache.builder(server))
                .nodeLister(lister)
                .metrics(told.metrics())
                .build();
    }
}
