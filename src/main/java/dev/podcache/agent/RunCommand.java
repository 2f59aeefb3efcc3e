package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import picocli.CommandLine;
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

    private static final Logger log = LoggerFactory.getLogger(RunCommand.class);

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
            names = {"--hostname-override", "--node"},
            paramLabel = "NODE",
            description = "the node whose pods to follow; otherwise $NODE_NAME")
    private @Nullable String node;

    @Mixin
    private KubeletFlags flags = new KubeletFlags();

    RunCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String name = nodeName();
        console.logging().accept(output.verbose ? Level.DEBUG : Level.WARN);
        KubeletConfiguration configuration = configuration();
        RequestLimit limit = new RequestLimit(
                configuration.rates().kubeApiQps(), configuration.rates().kubeApiBurst());
        Config config = new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
        try (KubernetesClient client = ClusterAccess.client(config);
                Fabric8ApiServer server = Fabric8ApiServer.of(client, limit)) {
            FirstContact.with(server, name, config.getMasterUrl());
            try (Account account = Account.unhurried(console.out(), output.format, System::nanoTime)) {
                run(server, config.getMasterUrl(), NodeAgentOptions.of(name, configuration), account);
            }
        }
        return 0;
    }

    private void run(Fabric8ApiServer server, String url, NodeAgentOptions options, Account account) {
        String name = options.node();
        ChangeDetectionStrategy strategy = options.caching().strategy();
        Audience audience = new Audience(
                account, sighting -> account.tell(sighting.event("", ImmutableMap.of())), Progress.UNKNOWN);
        try (NodeAgent running = new NodeAgent(server, options, audience)) {
            account.tell(new Event(
                    "started",
                    "node " + name + ", strategy " + strategy + ", server " + url,
                    ImmutableMap.of("node", name, "strategy", strategy.name(), "server", url)));
            running.start();
            console.await(agent.duration, account);
            running.stop();
            account.block(new Summary(strategy, running.inventory(), running.counts())
                    .withWatches(running.watches())
                    .event());
        }
    }

    /** What flags, file and defaults say, in this order. */
    private KubeletConfiguration configuration() {
        Path path = flags.config();
        ConfigurationFile file = path == null ? ConfigurationFile.NONE : ConfigurationFile.read(path);
        try {
            Map<String, Setting> given = flags.settings();
            if (agent.strategy != null) {
                given.put(ObjectCaching.STRATEGY, Setting.ofFlag("--strategy", agent.strategy));
            }
            KubeletConfiguration configuration = KubeletConfiguration.of(file.settings(), new Settings(given));
            if (!file.ignored().isEmpty()) {
                log.warn(
                        "configuration {}: ignored, because this agent runs no containers: {}",
                        path,
                        String.join(", ", file.ignored()));
            }
            return configuration;
        } catch (IllegalSetting illegal) {
            throw illegal.ofFlag()
                    ? new ParameterException(commandLine(), String.valueOf(illegal.getMessage()), illegal)
                    : new CommandFailure(String.valueOf(illegal.getMessage()), illegal);
        }
    }

    private String nodeName() {
        String name = node != null ? node : console.environment().getOrDefault("NODE_NAME", "");
        if (name.isEmpty()) {
            throw new ParameterException(commandLine(), "no node given: name it with --hostname-override or NODE_NAME");
        }
        try {
            return ObjectKey.validated("default", name).name();
        } catch (IllegalArgumentException illegal) {
            throw new ParameterException(commandLine(), "node " + illegal.getMessage(), illegal);
        }
    }

    private CommandLine commandLine() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return spec.commandLine();
    }
}
