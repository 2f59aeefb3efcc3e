package dev.podcache.cli;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.config.CertificateFlags;
import dev.podcache.cli.config.ClusterAccess;
import dev.podcache.cli.config.FirstContact;
import dev.podcache.cli.config.FlagValues;
import dev.podcache.cli.config.NodeCredentials;
import dev.podcache.cli.config.NodeOptions;
import dev.podcache.cli.observe.PageOptions;
import dev.podcache.cli.observe.ReportedNode;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentBuilder;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.agent.ProcessRuntime;
import dev.podcache.kubelet.certificate.CertificateRotation;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.micrometer.CertificateMeterBinder;
import dev.podcache.micrometer.PrometheusScrape;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
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
        header = "Runs a node agent: this process becomes a node of a cluster.",
        mixinStandardHelpOptions = true,
        description = {
            "Registers the node, maintains its status and its Lease, caches what its pods get from Secrets and"
                    + " ConfigMaps, and reports the status of the pods. Without --processes it runs no containers: a"
                    + " container counts as running once its configuration is available, and the node has the taint"
                    + " podcache.dev/hollow:NoSchedule unless --register-with-taints is given. Needs the permissions of a kubelet. Never use the"
                    + " name of a node that has a kubelet; to look at such a node, use observe."
        },
        footer = {
            "",
            "Examples:",
            "  podcache run --kubeconfig node.kubeconfig --hostname-override hollow-1 --node-labels zone=a",
            "  podcache run --kubeconfig node.kubeconfig --hostname-override edge-1 \\",
            "      --bootstrap-kubeconfig bootstrap.kubeconfig --rotate-certificates"
        })
final class RunCommand implements Callable<Integer> {

    private final Console console;
    private final Function<Timekeeper, PodRuntime> runtime;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--register-again",
            description = "register the node again if its Node is deleted; by default it stays deleted")
    private boolean registerAgain;

    @Option(
            names = "--processes",
            paramLabel = "DIR",
            description =
                    "run containers as processes of this machine, without isolation; DIR keeps their state, logs and volumes,"
                            + " with the Secrets and tokens that they mount: on disk, unless --memory-dir is set or DIR is on a"
                            + " tmpfs")
    private @Nullable Path processes;

    @Option(
            names = "--memory-dir",
            paramLabel = "DIR",
            description =
                    "with --processes: keeps the Secrets and tokens of volumes in memory. DIR is on a tmpfs, such as"
                            + " /dev/shm/podcache, for this agent alone; anything else is refused")
    private @Nullable Path memory;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private NodeOptions node = new NodeOptions();

    @Option(
            names = "--hostname-override",
            paramLabel = "NODE",
            description = "the name of the node, in the kubelet's spelling: the same as --node")
    void hostnameOverride(String name) {
        node.named(name);
    }

    @Mixin
    private CertificateFlags certificates = new CertificateFlags();

    RunCommand(Console console, Function<Timekeeper, PodRuntime> runtime) {
        this.console = console;
        this.runtime = runtime;
    }

    @Override
    public Integer call() {
        if (memory != null && processes == null) {
            throw usage("--memory-dir needs --processes: without it, nothing is mounted", null);
        }
        String name = node.name(console);
        console.logging().accept(output.level(Level.WARN));
        KubeletConfiguration configuration = node.configuration(agent);
        NodeCredentials credentials = node.credentials(certificates, agent, console);
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            if (credentials.obtain(agent.duration, events)) {
                run(name, configuration, credentials, events);
            }
        }
        return 0;
    }

    private void run(String name, KubeletConfiguration configuration, NodeCredentials credentials, EventWriter events) {
        Config config = credentials.config();
        try (Fabric8ApiServer server = ClusterAccess.server(config, configuration.rates())) {
            FirstContact contact = new FirstContact(server, config, console, events);
            BooleanSupplier contacted = () -> contact.await(ObjectKind.POD, NodePorts.podsOf(name), agent.duration);
            // static pods do not wait for the API server
            boolean startsFirst = configuration.staticPods().isPresent();
            if (startsFirst || contacted.getAsBoolean()) {
                events.write(ProgramEvent.started(name, configuration.caching().strategy(), config.getMasterUrl()));
                Optional<CertificateRotation> rotation = credentials.rotate(config, server);
                NodeAgentBuilder options = NodeAgent.builder(server)
                        .runtime(time -> told(name, runtime(time), events))
                        .registerAgain(registerAgain)
                        .scrape(node -> PrometheusScrape.ofNode(node, meters(rotation)))
                        .flags(FlagValues.of(Objects.requireNonNull(spec, "spec")));
                if (processes != null) {
                    options.facts(HostFacts.ofThisMachine(existing(processes)));
                }
                try (ReportedNode running = new ReportedNode(name, configuration, options, events)) {
                    page.serveDuring(
                            () -> run(running, startsFirst ? contacted : () -> true, events),
                            running.agent().view(),
                            events);
                } finally {
                    rotation.ifPresent(CertificateRotation::close);
                }
            }
        }
    }

    /** Returns the directory, or the one in which it will be made: that is on the same file system. */
    private static Path existing(Path directory) {
        Path found = directory.toAbsolutePath().normalize();
        while (!Files.exists(found)) {
            found = Objects.requireNonNull(found.getParent(), "the root directory exists");
        }
        return found;
    }

    private static List<MeterBinder> meters(Optional<CertificateRotation> rotation) {
        return rotation.<List<MeterBinder>>map(each -> List.of(new CertificateMeterBinder(each, Tags.empty())))
                .orElse(List.of());
    }

    private void run(ReportedNode running, BooleanSupplier contacted, EventWriter events) {
        running.start();
        if (contacted.getAsBoolean()) {
            console.await(agent.duration, events);
        }
        running.stop();
        events.block(running.summary());
    }

    /** Warns if nothing will run. */
    private static PodRuntime told(String node, PodRuntime runtime, EventWriter events) {
        if (runtime instanceof HollowRuntime) {
            events.write(ProgramEvent.of(
                    "warning",
                    "runtime",
                    "node " + node + " runs no containers: its pods become Running and do nothing. Unless"
                            + " --register-with-taints says otherwise, it has the taint podcache.dev/hollow:NoSchedule, which"
                            + " keeps pods away that do not tolerate it. To run containers, use --processes DIR"));
        }
        return runtime;
    }

    private PodRuntime runtime(Timekeeper timekeeper) {
        if (processes == null) {
            return runtime.apply(timekeeper);
        }
        ProcessRuntime.Builder builder = ProcessRuntime.builder(processes, timekeeper);
        if (memory != null) {
            builder.memory(memory);
        }
        try {
            return builder.build();
        } catch (IllegalArgumentException refused) {
            throw usage("--memory-dir: " + refused.getMessage(), refused);
        }
    }

    private ParameterException usage(String message, @Nullable Throwable cause) {
        return new ParameterException(Objects.requireNonNull(spec, "spec").commandLine(), message, cause);
    }
}
