package dev.podcache.cli.hollow;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.kubelet.nodestatus.NodeLabels;
import dev.podcache.kubelet.nodestatus.NodeTaints;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code hollow}. */
@Command(
        name = "hollow",
        header = "Runs many hollow nodes in this process, as the load of a control plane.",
        mixinStandardHelpOptions = true,
        description = {
            "Registers the nodes, renews their Leases and reports their statuses as kubelets do. Pods that are assigned"
                    + " to them run without containers, and their Secrets and ConfigMaps are read by name. Pods of a"
                    + " Job succeed after 10 s. A scheduler places only pods on them that tolerate their taint.",
            "Needs an identity that may list and watch Nodes, pods and Services, write Nodes, Leases and pod statuses,"
                    + " and read Secrets and ConfigMaps. With --pods-per-node, it must also create pods and Secrets."
        },
        footer = {
            "",
            "Example:",
            "  podcache hollow --kubeconfig admin.kubeconfig --nodes 1000 --pods-per-node 30 --for 10m"
        })
public final class HollowCommand implements Callable<Integer> {

    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration PROGRESS = Duration.ofSeconds(1);
    private static final int PROGRESS_LINES_WHEN_SETTLED = 10;

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the kubeconfig; default: $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(names = "--nodes", paramLabel = "N", description = "the number of nodes; default: 10")
    private int nodes = 10;

    @Option(
            names = "--pods-per-node",
            paramLabel = "N",
            description = "create so many pods on each node, each with one Secret; default: 0")
    private int podsPerNode;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "the namespace of these pods, which must exist; default: default")
    private String namespace = "default";

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            description = "the beginning of the nodes' names, which a number follows; default: hollow-")
    private String prefix = "hollow-";

    @Option(names = "--node-labels", paramLabel = "K=V,...", description = "labels of each node")
    private String labels = "";

    @Option(
            names = "--register-with-taints",
            paramLabel = "K=V:EFFECT,...",
            description =
                    "taints of each node, '' for none; default: podcache.dev/hollow:NoSchedule, which keeps pods away"
                            + " that a scheduler would place on nodes where nothing runs")
    private String taints = "podcache.dev/hollow:NoSchedule";

    @Option(names = "--keep", description = "do not delete the pods, Secrets and nodes at the end")
    private boolean keep;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Creates the command. */
    public HollowCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws Exception {
        HollowTemplate template = template();
        console.logging().accept(output.level(Level.WARN));
        Config config = new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
        // the nodes of a real cluster have a limit each
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.UNLIMITED)) {
            if (answers(server, template, config, events)) {
                events.write(started(config.getMasterUrl()));
                run(server, template, events);
            }
        }
        return 0;
    }

    /** Returns false if the command is to end. */
    private boolean answers(Fabric8ApiServer server, HollowTemplate template, Config config, EventWriter events) {
        FirstContact contact = new FirstContact(server, config, console, events);
        String first = "metadata.name=" + template.name(0);
        return contact.await(ObjectKind.NODE, first, agent.duration)
                && areNew(server, template, config.getMasterUrl(), events);
    }

    /**
     * Refuses to become a node that exists: it may have a kubelet, and it would be deleted at the end. A node of such a name
     * that another process creates from now on is not noticed.
     */
    private boolean areNew(Fabric8ApiServer server, HollowTemplate template, String url, EventWriter events) {
        Set<String> names = IntStream.range(0, nodes).mapToObj(template::name).collect(Collectors.toSet());
        // in pages, and only nodes of these names are decoded
        CompletableFuture<Listed<Node>> list =
                server.inNamespace(ObjectKind.NODE).apply("", names::contains).list(LIST_TIMEOUT);
        if (!console.await(list, events)) {
            return false;
        }
        try {
            List<Fetched<Node>> existing = list.join().items();
            if (!existing.isEmpty()) {
                throw new CommandException(
                        "Node " + existing.get(0).object().getMetadata().getName() + " exists already: choose"
                                + " another --prefix, or delete it",
                        null);
            }
        } catch (CompletionException e) {
            throw new CommandException("API server " + url + ": " + ApiServerException.describe(e), e);
        }
        return true;
    }

    private void run(Fabric8ApiServer server, HollowTemplate template, EventWriter events) throws InterruptedException {
        try (HollowLoad load = new HollowLoad(server, namespace, template, nodes, podsPerNode)) {
            try (HollowNodes hollow = HollowNodes.start(server, nodes, template)) {
                load.start();
                report(hollow, events);
            }
            if (!keep) {
                events.write(ProgramEvent.of("deleting", "what", "pods, Secrets and nodes; --keep leaves them"));
                delete(load);
            }
        }
    }

    private static void delete(HollowLoad load) throws InterruptedException {
        try {
            load.delete();
        } catch (ExecutionException e) {
            throw new CommandException(
                    "not everything was deleted: " + ApiServerException.describe(e.getCause())
                            + "; to delete the rest: " + load.remedy(),
                    e);
        }
    }

    private HollowTemplate template() {
        try {
            if (nodes <= 0 || podsPerNode < 0) {
                throw new IllegalArgumentException("--nodes must be positive and --pods-per-node must not be negative,"
                        + " but they are " + nodes + " and " + podsPerNode);
            }
            ObjectKey.validated(namespace, "any");
            return new HollowTemplate()
                    .prefix(prefix)
                    .labels(NodeLabels.parse(labels))
                    .taints(NodeTaints.parse(taints))
                    .strategy(agent.strategy == null ? ChangeDetectionStrategy.WATCH : agent.strategy);
        } catch (IllegalArgumentException invalid) {
            if (spec == null) {
                throw invalid;
            }
            throw new ParameterException(spec.commandLine(), String.valueOf(invalid.getMessage()), invalid);
        }
    }

    private ProgramEvent started(String url) {
        return new ProgramEvent(
                "started",
                nodes + " nodes " + prefix + "0 to " + prefix + (nodes - 1) + ", server " + url,
                ImmutableMap.of("nodes", nodes, "prefix", prefix, "server", url));
    }

    /** Reports once a second until everything runs, and then every ten seconds, until the command is to end. */
    private void report(HollowNodes hollow, EventWriter events) {
        long start = System.nanoTime();
        long duration = agent.duration == null ? Long.MAX_VALUE : agent.duration.toNanos();
        int settledFor = 0;
        for (long left = duration; left > 0; left = duration - (System.nanoTime() - start)) {
            Duration pause = Duration.ofNanos(Math.min(left, PROGRESS.toNanos()));
            if (!console.await(pause, events)) {
                return;
            }
            boolean settled = hollow.ready() == nodes && hollow.running() >= (long) nodes * podsPerNode;
            settledFor = settled ? settledFor + 1 : 0;
            if (!settled || settledFor % PROGRESS_LINES_WHEN_SETTLED == 1) {
                events.write(progress(hollow));
            }
        }
    }

    private ProgramEvent progress(HollowNodes hollow) {
        String renewal = hollow.oldestRenewal()
                .map(age -> ", oldest Lease renewed " + age.toSeconds() + " s ago")
                .orElse("");
        return new ProgramEvent(
                "progress",
                hollow.ready() + " of " + nodes + " nodes Ready, " + hollow.running() + " of " + hollow.pods()
                        + " pods Running" + renewal,
                ImmutableMap.of("nodesReady", hollow.ready(), "podsRunning", hollow.running(), "pods", hollow.pods()));
    }
}
