package dev.podcache.cli.plan;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanSettings;
import dev.podcache.controlplane.planner.Simulation;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The subcommand {@code plan}. */
@Command(
        name = "plan",
        header = "Computes what the nodes of a cluster cost its API server, and how soon a dead node is noticed.",
        mixinStandardHelpOptions = true,
        description = {
            "Needs no cluster. Compares four tuning profiles: status update / monitor period / grace period / toleration",
            "  default  10s / 5s / 50s / 5m",
            "  fast      4s / 2s / 20s / 30s",
            "  medium   20s / 5s / 2m  / 1m",
            "  low       1m / 5s / 5m  / 1m"
        },
        footer = {
            "",
            "Examples:",
            "  podcache plan --nodes 1000                           the four profiles side by side",
            "  podcache plan --nodes 1000 --profile fast --explain  and how each figure is computed",
            "  podcache plan --nodes 5000 --strategy Cache -o json"
        })
public final class PlanCommand implements Callable<Integer> {

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private PlanOptions options = new PlanOptions();

    @Option(names = "--explain", description = "also print how each figure is computed")
    private boolean explain;

    @Option(
            names = "--simulate",
            paramLabel = "DURATION",
            description = "also simulate so much time, such as 1h, and count; 15000 nodes may take a minute")
    private @Nullable Duration simulated;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text (the default) or json (one object a line for each profile)")
    private EventWriter.Format format = EventWriter.Format.TEXT;

    /** Creates the command. */
    public PlanCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        // a simulation runs classes that log what they do
        console.logging().accept(Level.WARN);
        List<PlannedCluster> clusters = clusters();
        EventWriter out = EventWriter.to(console.out(), EventWriter.Format.TEXT);
        out.block(new ProgramEvent("plan", output(clusters), ImmutableMap.of()));
        out.close();
        out.requireReader();
        return 0;
    }

    private List<PlannedCluster> clusters() {
        try {
            List<PlanSettings> settings = options.settings();
            return simulated == null
                    ? settings.stream()
                            .map(each -> new PlannedCluster(Plan.of(each), null))
                            .toList()
                    : simulated(settings, simulated);
        } catch (IllegalArgumentException invalid) {
            if (spec == null) {
                throw invalid;
            }
            throw new ParameterException(spec.commandLine(), String.valueOf(invalid.getMessage()), invalid);
        }
    }

    /** Simulates the clusters side by side: each one takes a processor for its whole time. */
    private static List<PlannedCluster> simulated(List<PlanSettings> settings, Duration length) {
        settings.forEach(each -> Simulation.requireEnough(each, length));
        try (Timekeeper threads = Timekeeper.system()) {
            List<CompletableFuture<PlannedCluster>> clusters = settings.stream()
                    .map(each -> CompletableFuture.supplyAsync(
                            () -> new PlannedCluster(Plan.of(each), Simulation.run(each, length)), threads.workers()))
                    .toList();
            return clusters.stream().map(CompletableFuture::join).toList();
        }
    }

    private String output(List<PlannedCluster> clusters) {
        return switch (format) {
            case TEXT -> PlanTable.of(clusters) + (explain ? explained(clusters) : "");
            case JSON ->
                clusters.stream()
                        .map(cluster -> PlanJson.line(cluster, explain))
                        .collect(Collectors.joining(System.lineSeparator()));
        };
    }

    private static String explained(List<PlannedCluster> clusters) {
        return clusters.stream()
                .map(cluster -> "\n" + PlanTable.explained(cluster.plan()))
                .collect(Collectors.joining());
    }
}
