package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.config.NodeOptions;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.Versions;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.concurrent.Callable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code observe}. */
@Command(
        name = "observe",
        header = "Looks at a node of a real cluster, and what its pods refer to, without changing anything.",
        mixinStandardHelpOptions = true,
        versionProvider = Versions.class,
        description = {
            "Follows the pods of one node, keeps what they refer to cached, reads it once a period and tells what it"
                    + " sees: names and resourceVersions, never contents. Changes nothing in the cluster. Needs the"
                    + " verbs list and watch on the node's pods and on the Node itself, and on what the pods refer"
                    + " to: get with strategies Get and Cache, list and watch with strategy Watch (get and watch"
                    + " will do)."
        },
        footer = {
            "",
            "Example:",
            "  podcache observe --kubeconfig ~/.kube/config --hostname-override worker-1 --for 10m"
        })
public final class ObserveCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private AgentOptions agent = new AgentOptions();

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
        console.logging().accept(output.verbose ? Level.DEBUG : Level.WARN);
        KubeletConfiguration configuration = node.configuration(agent);
        Config config = node.cluster(console);
        try (KubernetesClient client = ClusterAccess.client(config);
                Fabric8ApiServer server = Fabric8ApiServer.of(client, configuration.rates())) {
            FirstContact.with(server, name, config);
            try (Account account = Account.unhurried(console.out(), output.format, System::nanoTime)) {
                observe(server, config.getMasterUrl(), ObserverOptions.of(name, configuration), account);
            }
        }
        return 0;
    }

    private void observe(Fabric8ApiServer server, String url, ObserverOptions options, Account account) {
        ChangeDetectionStrategy strategy = options.caching().strategy();
        Audience audience = new Audience(
                account, sighting -> account.tell(sighting.event("", ImmutableMap.of())), Progress.UNKNOWN);
        try (Observer running = new Observer(server, options, audience)) {
            account.tell(Event.started(options.node(), strategy, url));
            running.start();
            console.await(agent.duration, account);
            running.stop();
            account.block(new Summary(strategy, running.inventory(), running.counts())
                    .withWatches(running.watches())
                    .event());
        }
    }
}
