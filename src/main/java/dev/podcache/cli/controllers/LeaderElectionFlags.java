package dev.podcache.cli.controllers;

import dev.podcache.controlplane.leaderelection.LeaderElectionOptions;
import dev.podcache.object.ObjectKey;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The flags of the leader election, spelled as kube-controller-manager does. */
final class LeaderElectionFlags {

    @Option(
            names = "--leader-elect",
            paramLabel = "BOOL",
            arity = "0..1",
            fallbackValue = "true",
            description = "work only while this process holds a Lease, so that several can be started; default: true")
    private boolean elect = true;

    @Option(
            names = "--leader-elect-lease-duration",
            paramLabel = "DURATION",
            description = "how long the others wait for a leader that does not renew the Lease; default: 15s")
    private Duration leaseDuration = Duration.ofSeconds(15);

    @Option(
            names = "--leader-elect-renew-deadline",
            paramLabel = "DURATION",
            description = "how long after its last renewal a leader stops; default: 10s")
    private Duration renewDeadline = Duration.ofSeconds(10);

    @Option(
            names = "--leader-elect-retry-period",
            paramLabel = "DURATION",
            description = "the pause between tries to get or renew the Lease; default: 2s")
    private Duration retryPeriod = Duration.ofSeconds(2);

    @Option(
            names = "--leader-elect-resource-name",
            paramLabel = "NAME",
            description = "the name of the Lease; default: podcache-controllers")
    private String name = "podcache-controllers";

    @Option(
            names = "--leader-elect-resource-namespace",
            paramLabel = "NAME",
            description = "the namespace of the Lease; default: kube-system")
    private String namespace = "kube-system";

    boolean elect() {
        return elect;
    }

    String name() {
        return name;
    }

    /**
     * Returns the options of a candidate.
     *
     * @throws IllegalArgumentException if the flags do not fit together; the message names them and their values
     */
    LeaderElectionOptions options(String identity) {
        return new LeaderElectionOptions(
                ObjectKey.validated(namespace, name), identity, leaseDuration, renewDeadline, retryPeriod);
    }
}
