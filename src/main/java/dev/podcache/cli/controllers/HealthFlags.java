package dev.podcache.cli.controllers;

import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Versions;
import dev.podcache.kubelet.server.ComponentInfo;
import dev.podcache.kubelet.server.HealthCheck;
import dev.podcache.kubelet.server.HealthServer;
import dev.podcache.kubelet.server.ListenAddress;
import dev.podcache.micrometer.PrometheusScrape;
import dev.podcache.time.Timekeeper;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The flags of the health port, spelled as the kubelet does, and that port. */
final class HealthFlags {

    @Option(
            names = "--healthz-bind-address",
            paramLabel = "IP",
            description =
                    "the address of the health port; at a loopback address, it also has /metrics, /statusz and /flagz"
                            + " (default: 127.0.0.1)")
    private String address = "127.0.0.1";

    @Option(
            names = "--healthz-port",
            paramLabel = "PORT",
            description = "the port of /livez, /readyz and /healthz without TLS; 0 for none (default: 0)")
    private int port;

    /**
     * Returns whether there is a health port.
     *
     * @throws IllegalArgumentException if a flag is out of range; the message names it and its value
     */
    boolean isOn() {
        ListenAddress.address("--healthz-bind-address", address);
        return ListenAddress.port("--healthz-port", port) != 0;
    }

    /**
     * Serves the health of the controllers until the returned server is closed.
     *
     * @param name of the election, for the metric of the leader
     * @param flags the flags of the command with their values
     * @throws CommandException if the address cannot be used
     */
    HealthServer serve(Leadership leadership, String name, Map<String, String> flags, Timekeeper timekeeper) {
        PrometheusScrape metrics = new PrometheusScrape(() -> meters(leadership, name));
        HealthServer server = new HealthServer(
                ComponentInfo.of("podcache", Versions.podcache())
                        .withChecks(List.of(), List.of(new HealthCheck("controllers", leadership::problem)))
                        .withMetrics(metrics)
                        .withFlags(() -> flags),
                timekeeper);
        try {
            server.start(address, port);
            return server;
        } catch (IOException e) {
            server.close();
            throw new CommandException(e.getMessage() + "; choose another --healthz-port", e);
        }
    }

    private static List<MeterBinder> meters(Leadership leadership, String name) {
        List<MeterBinder> meters = new ArrayList<>(PrometheusScrape.jvm());
        meters.add(
                registry -> Gauge.builder("leader.election.master.status", leadership, each -> each.isLeading() ? 1 : 0)
                        .tag("name", name)
                        .description("Whether this process is the leader")
                        .register(registry));
        return meters;
    }
}
