package dev.podcache.cli.config;

import dev.podcache.cli.output.Console;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that name a node and its cluster. */
public final class NodeName {

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the kubeconfig; default: $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(names = "--node", paramLabel = "NODE", description = "the name of the node; default: $NODE_NAME")
    private @Nullable String node;

    void named(String name) {
        node = name;
    }

    /** Returns the configuration to reach the cluster. */
    public Config cluster(Console console) {
        return new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
    }

    /** Returns the file of {@code --kubeconfig}, or null. */
    @Nullable
    Path kubeconfig() {
        return kubeconfig;
    }

    /**
     * Returns the name of the node.
     *
     * @throws ParameterException if it is missing or not legal
     */
    public String name(Console console) {
        String given = node != null ? node : console.environment().getOrDefault("NODE_NAME", "");
        // as a kubelet does with its flag
        String name = given.strip().toLowerCase(Locale.ROOT);
        if (name.isEmpty()) {
            throw new ParameterException(commandLine(), "the node is missing: set --node or NODE_NAME");
        }
        try {
            return ObjectKey.validated("default", name).name();
        } catch (IllegalArgumentException illegal) {
            throw new ParameterException(
                    commandLine(),
                    "node " + String.valueOf(illegal.getMessage()).replace(name, given),
                    illegal);
        }
    }

    private CommandLine commandLine() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return spec.commandLine();
    }
}
