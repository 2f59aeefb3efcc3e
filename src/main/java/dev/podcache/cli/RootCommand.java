package dev.podcache.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The program without a subcommand: prints its commands. */
@Command(
        name = "podcache",
        mixinStandardHelpOptions = true,
        description = "Caches the Secrets and ConfigMaps of a node's pods.",
        footer = {
            "",
            "Examples:",
            "  podcache demo                                     needs no cluster, ends by itself",
            "  podcache demo --for 15s -o json",
            "  podcache observe --node worker-1                  watches a node, changes nothing",
            "  podcache run --hostname-override hollow-1         becomes a node",
            "  podcache doctor -f pod.yaml                       checks connection and access",
            "  podcache grants --file policy.yaml                keeps Roles equal to references",
            "  podcache plan --nodes 1000                        computes the load of a cluster",
            "",
            "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 doctor found a problem."
        })
final class RootCommand implements Runnable {

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            spec.commandLine().usage(spec.commandLine().getOut());
        }
    }
}
