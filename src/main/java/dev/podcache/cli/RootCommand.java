package dev.podcache.cli;

import picocli.CommandLine.Command;

/** The program without a subcommand. {@link Main} adds the subcommand {@code demo} if none is given. */
@Command(
        name = "podcache",
        mixinStandardHelpOptions = true,
        description = "Caches the Secrets and ConfigMaps of a node's pods. Without a subcommand, runs demo.",
        footer = {
            "",
            "Examples:",
            "  podcache                                          runs the demo: needs no cluster, ends by itself",
            "  podcache --for 15s -o json",
            "  podcache observe --hostname-override worker-1     watches a node, changes nothing",
            "  podcache run --hostname-override hollow-1         becomes a node",
            "  podcache doctor -f pod.yaml                       checks connection and access",
            "  podcache plan --nodes 1000                        computes the load of a cluster",
            "",
            "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 doctor found a problem."
        })
record RootCommand() {}
