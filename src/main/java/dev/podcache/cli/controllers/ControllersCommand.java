package dev.podcache.cli.controllers;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.config.FlagValues;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.controlplane.leaderelection.LeaderElectionOptions;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.kubelet.server.HealthServer;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code controllers}. */
@Command(
        name = "controllers",
        header = "Runs the controllers that find silent nodes, evict their pods, and set the TTL of caches.",
        mixinStandardHelpOptions = true,
        description = {
            "For a control plane without kube-controller-manager, such as one that is a test bed of hollow nodes. Never"
                    + " run it beside a kube-controller-manager that has these controllers (node-lifecycle,"
                    + " taint-eviction, ttl): both would act on the same nodes.",
            "Needs the permissions in deploy/rbac-controllers.yaml: for Nodes, pods, Leases and events."
        },
        footer = {"", "Example:", "  podcache controllers --kubeconfig admin.kubeconfig --node-monitor-grace-period 40s"
        })
public final class ControllersCommand implements Callable<Integer> {

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "the kubeconfig; default: $KUBECONFIG, the pod's service account, ~/.kube/config")
    private @Nullable Path kubeconfig;

    @Option(names = "--for", paramLabel = "DURATION", description = "end after this time, such as 15s or 1m30s")
    private @Nullable Duration duration;

    @Option(names = "--kube-api-qps", paramLabel = "N", description = "requests in a second; default: 20")
    private double requestsPerSecond = 20;

    @Option(names = "--kube-api-burst", paramLabel = "N", description = "requests at once; default: 30")
    private int burst = 30;

    @Mixin
    private MonitorFlags monitor = new MonitorFlags();

    @Mixin
    private LeaderElectionFlags election = new LeaderElectionFlags();

    @Mixin
    private HealthFlags health = new HealthFlags();

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Creates the command. */
    public ControllersCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        String host = console.environment().getOrDefault("HOSTNAME", "podcache");
        NodeLifecycleOptions lifecycle = checked(monitor::options);
        RequestLimit limit = checked(() -> new RequestLimit(requestsPerSecond, burst));
        checked(health::isOn);
        LeaderElectionOptions candidate = checked(() -> election.options(host + "_" + UUID.randomUUID()));
        console.logging().accept(output.level(Level.INFO));
        Config config = new ClusterAccess(console.environment(), console.home()).config(kubeconfig);
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                Fabric8ApiServer server = ClusterAccess.server(config, RequestLimit.DEFAULT)) {
            FirstContact contact = new FirstContact(server, config, console, events);
            if (contact.await(ObjectKind.NODE, "metadata.name=" + host, duration)) {
                events.write(started(lifecycle, config.getMasterUrl()));
                Supplier<RunningControllers> controllers = () ->
                        new RunningControllers(Fabric8ApiServer.of(config, limit), lifecycle, host, events::write);
                run(new Leadership(controllers, server.timekeeper(), events::write), server, candidate, events);
            }
        }
        return 0;
    }

    private void run(
            Leadership leadership, Fabric8ApiServer server, LeaderElectionOptions candidate, EventWriter events) {
        @Nullable
        HealthServer port = health.isOn()
                ? health.serve(
                        leadership,
                        election.name(),
                        FlagValues.of(Objects.requireNonNull(spec, "spec")),
                        server.timekeeper())
                : null;
        try (leadership) {
            if (election.elect()) {
                leadership.compete(server, candidate);
            } else {
                leadership.startedLeading();
            }
            console.await(duration, events);
        } finally {
            if (port != null) {
                port.close();
            }
        }
    }

    private <T> T checked(Supplier<T> options) {
        try {
            return options.get();
        } catch (IllegalArgumentException invalid) {
            if (spec == null) {
                throw invalid;
            }
            throw new ParameterException(spec.commandLine(), String.valueOf(invalid.getMessage()), invalid);
        }
    }

    private static ProgramEvent started(NodeLifecycleOptions options, String url) {
        long period = options.monitorPeriod().toMillis();
        long grace = options.monitorGracePeriod().toMillis();
        return new ProgramEvent(
                "started",
                "monitor period " + period + " ms, grace period " + grace + " ms, server " + url,
                ImmutableMap.of("monitorPeriodMillis", period, "gracePeriodMillis", grace, "server", url));
    }
}
