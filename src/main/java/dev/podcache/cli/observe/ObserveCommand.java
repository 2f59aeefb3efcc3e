package dev.podcache.cli.observe;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.config.NodeOptions;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.Config;
import java.util.concurrent.Callable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code observe}. */
@Command(
        name = "observe",
        header = "Watches a node of a cluster and what its pods refer to. Changes nothing.",
        mixinStandardHelpOptions = true,
        description = {
            "Watches the pods of one node, caches the Secrets and ConfigMaps that they refer to, reads them once a"
                    + " period, and prints what it observes: names and resourceVersions, never contents. Writes nothing"
                    + " to the cluster. Needs the verbs list and watch on the pods of the node and on the Node. On what"
                    + " the pods refer to, it needs get with the strategies Get and Cache, and list and watch (or get"
                    + " and watch) with the strategy Watch."
        },
        footer = {"", "Example:", "  podcache observe --kubeconfig ~/.kube/config --node worker-1 --for 10m"})
public final class ObserveCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private NodeOptions node = new NodeOptions();

    public ObserveCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String name = node.name(console);
        console.logging().accept(output.level(Level.WARN));
        KubeletConfiguration configuration = node.configuration(agent);
        Config config = node.cluster(console);
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                Fabric8ApiServer server = ClusterAccess.server(config, configuration.rates())) {
            FirstContact contact = new FirstContact(server, config, console, events);
            if (contact.await(ObjectKind.POD, NodePorts.podsOf(name), agent.duration)) {
                events.write(ProgramEvent.started(name, configuration.caching().strategy(), config.getMasterUrl()));
                observe(name, configuration.caching(), server, events);
            }
        }
        return 0;
    }

    private void observe(String name, ObjectCaching caching, Fabric8ApiServer server, EventWriter events) {
        try (NodeObserver observer = new NodeObserver(server, name, caching, new CacheReports(events))) {
            page.serveDuring(() -> observe(observer, events), observer.view(), events);
        }
    }

    private void observe(NodeObserver observer, EventWriter events) {
        observer.start();
        console.await(agent.duration, events);
        observer.stop();
        events.block(observer.summary().event());
    }
}
