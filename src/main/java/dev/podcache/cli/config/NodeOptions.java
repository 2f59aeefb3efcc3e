package dev.podcache.cli.config;

import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of the commands that work for a node of a real cluster. */
public final class NodeOptions {

    private static final Logger log = LoggerFactory.getLogger(NodeOptions.class);

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "how to reach the cluster; otherwise $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(
            names = {"--hostname-override", "--node"},
            paramLabel = "NODE",
            description = "the name of the node; otherwise $NODE_NAME")
    private @Nullable String node;

    @Mixin
    private KubeletFlags flags = new KubeletFlags();

    /** How to reach the cluster. */
    public Config cluster(Console console) {
        return new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
    }

    /**
     * The name of the node.
     *
     * @throws ParameterException if there is none, or it is not legal
     */
    public String name(Console console) {
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

    /**
     * What flags, file and defaults say, in this order.
     *
     * @param agent of whose options the strategy is one
     * @throws ParameterException if a flag is wrong
     * @throws CommandException if the file is
     */
    public KubeletConfiguration configuration(AgentOptions agent) {
        Path path = flags.config();
        ConfigurationFile file = path == null ? ConfigurationFile.NONE : ConfigurationFile.read(path);
        try {
            Map<String, Setting> given = flags.settings();
            if (agent.strategy != null) {
                given.put(KubeletSettings.STRATEGY, Setting.ofFlag("--strategy", agent.strategy));
            }
            KubeletConfiguration configuration = KubeletSettings.configuration(file.settings(), new Settings(given));
            if (!file.ignored().isEmpty()) {
                log.warn(
                        "configuration {}: valid for a kubelet, but without effect here: {}",
                        path,
                        String.join(", ", file.ignored()));
            }
            return configuration;
        } catch (IllegalSettingException illegal) {
            throw illegal.ofFlag()
                    ? new ParameterException(commandLine(), String.valueOf(illegal.getMessage()), illegal)
                    : new CommandException(String.valueOf(illegal.getMessage()), illegal);
        }
    }

    private CommandLine commandLine() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return spec.commandLine();
    }
}
