package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code run}. */
@Command(
        name = "run",
        header = "Runs an agent on a node of a real cluster.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.Provider.class,
        description = {
            "Follows the pods of one node, keeps what they refer to cached, reads it once a period and tells what it sees:"
                    + " names and resourceVersions, never contents. Changes nothing in the cluster. Needs the verbs list and"
                    + " watch on the node's pods and on the Node itself, and on what the pods refer to: get with strategies Get and"
                    + " Cache, list and watch with strategy Watch (get and watch will do)."
        },
        footer = {
            "",
            "Example:",
            "  podcache-agent run --kubeconfig ~/.kube/config --hostname-override worker-1 --for 10m"
        })
final class RunCommand implements Callable<Integer> {

    private static final Duration LEAST_PROGRESS = Duration.ofSeconds(10);

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "how to reach the cluster; otherwise $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(
            names = "--hostname-override",
            paramLabel = "NODE",
            description = "the node whose pods to follow; otherwise $NODE_NAME")
    private @Nullable String node;

    @Option(
            names = "--sync-frequency",
            paramLabel = "DURATION",
            description = "how often everything is read (default: 10s)")
    private Duration syncFrequency = Duration.ofSeconds(10);

    RunCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String name = nodeName();
        console.logging().accept(output.verbose ? Level.DEBUG : Level.WARN);
        Config config = new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
        try (KubernetesClient client = ClusterAccess.client(config);
                Fabric8ApiServer server = Fabric8ApiServer.of(client)) {
            FirstContact.with(server, name, config.getMasterUrl());
            run(server, name, config.getMasterUrl());
        }
        return 0;
    }

    private void run(Fabric8ApiServer server, String name, String url) {
        try (Account account = Account.unhurried(console.out(), output.format, System::nanoTime)) {
            run(server, name, url, account);
        }
    }

    private void run(Fabric8ApiServer server, String name, String url, Account account) {
        Duration progress = syncFrequency.compareTo(LEAST_PROGRESS) > 0 ? syncFrequency : LEAST_PROGRESS;
        NodeAgentOptions options = new NodeAgentOptions(name, agent.strategy, syncFrequency, progress);
        Audience audience = new Audience(
                account, sighting -> account.tell(sighting.event("", ImmutableMap.of())), Progress.UNKNOWN);
        try (NodeAgent running = new NodeAgent(server, options, audience)) {
            account.tell(new Event(
                    "started",
                    "node " + name + ", strategy " + agent.strategy + ", server " + url,
                    ImmutableMap.of("node", name, "strategy", agent.strategy.name(), "server", url)));
            running.start();
            console.await(agent.duration, account);
            running.stop();
            account.block(new Summary(agent.strategy, running.inventory(), running.counts())
                    .withWatches(running.watches())
                    .event());
        }
    }

    private String nodeName() {
        String name = node != null ? node : console.environment().getOrDefault("NODE_NAME", "");
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        if (name.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "no node given: name it with --hostname-override or NODE_NAME");
        }
        try {
            return ObjectKey.validated("default", name).name();
        } catch (IllegalArgumentException illegal) {
            throw new ParameterException(spec.commandLine(), "node " + illegal.getMessage(), illegal);
        }
    }
}
