package dev.podcache.controlplane.planner;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.object.Numbers;
import dev.podcache.report.Machine;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How often do nodes try to write in their grace period when a kube-apiserver refuses all heartbeats? The server's audit
 * log counts.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.controlplane.planner.TriesRun
 * }</pre>
 *
 * <p>For each profile, ten hollow nodes with the heartbeats of newer kubelets, and ten that write their status at every
 * update, as older kubelets do. After four minutes, a webhook that does not answer makes the server refuse
 * every update of a Lease or a status with 500. Counted are the refusals from the last update of a node that succeeded until
 * the grace period is over. Prints a table: planned, simulated by {@link RefusedHeartbeats}, and measured, each the fewest
 * and the most of a node. Before it stand the updates a minute of 1,000 older kubelets, measured from the time between two
 * updates of a node. Takes ten minutes.
 */
public final class TriesRun {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NODES = 10;
    private static final int THOUSAND = 1_000;
    private static final double MINUTE = 60_000; // in milliseconds
    private static final int FIRST_REFUSAL = 400;
    private static final Duration SETTLING = Duration.ofMinutes(4);
    private static final Duration LATE = Duration.ofSeconds(15);
    private static final String OLDER = "older-";
    private static final String NEWER = "newer-";
    private static final String WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

    private static final String POLICY = """
            apiVersion: audit.k8s.io/v1
            kind: Policy
            omitStages: [RequestReceived]
            rules:
            - level: Metadata
              verbs: [update, patch]
              resources:
              - {group: coordination.k8s.io, resources: [leases]}
              - {group: "", resources: [nodes/status]}
            - level: None
            """;

    private static final String REFUSING = """
            {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
             "metadata": {"name": "refuse-heartbeats"},
             "webhooks": [{"name": "refuse.podcache.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"],
              "timeoutSeconds": 1, "failurePolicy": "Fail", "clientConfig": {"url": "https://127.0.0.1:1/"},
              "rules": [
               {"apiGroups": ["coordination.k8s.io"], "apiVersions": ["*"], "resources": ["leases"],
                "operations": ["UPDATE"]},
               {"apiGroups": [""], "apiVersions": ["*"], "resources": ["nodes/status"], "operations": ["UPDATE"]}]}]}
            """;

    private TriesRun() {}

    /** A request in the audit log. */
    private record AuditedWrite(String node, String resource, boolean refused, Instant at) {

        static AuditedWrite of(String line) {
            try {
                JsonNode event = JSON.readTree(line);
                return new AuditedWrite(
                        event.at("/objectRef/name").asText(),
                        event.at("/objectRef/resource").asText(),
                        event.at("/responseStatus/code").asInt() >= FIRST_REFUSAL,
                        Instant.parse(event.at("/requestReceivedTimestamp").asText()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        Machine machine = Machine.now();
        Path policy = Files.createTempFile("audit-policy", ".yaml");
        Path log = Files.createTempFile("audit", ".log");
        Files.writeString(policy, POLICY);
        List<HollowNodes> all = new ArrayList<>();
        try (RealApiServer server = RealApiServer.start("--audit-policy-file=" + policy, "--audit-log-path=" + log);
                KubernetesClient client = server.client()) {
            System.out.println(machine.sentence() + " kube-apiserver " + server.version() + ". " + NODES
                    + " hollow nodes of each kind.\n");
            TuningProfile.ALL.forEach(profile -> all.addAll(start(client, profile)));
            PlanRun.await("all nodes are Ready", () -> all.stream().allMatch(nodes -> nodes.ready() == NODES));
            TimeUnit.NANOSECONDS.sleep(SETTLING.toNanos());
            client.raw(WEBHOOKS, "POST", JSON.readTree(REFUSING));
            TimeUnit.NANOSECONDS.sleep(longestGrace().plus(LATE).toNanos());
            print(log);
        } finally {
            all.forEach(HollowNodes::close);
        }
        System.exit(0);
    }

    private static List<HollowNodes> start(KubernetesClient client, TuningProfile profile) {
        HollowTemplate newer = new HollowTemplate().prefix(NEWER + profile.name() + "-");
        HollowTemplate older =
                new HollowTemplate().prefix(OLDER + profile.name() + "-").statusReport(profile.statusUpdate());
        return List.of(HollowNodes.start(client, NODES, newer), HollowNodes.start(client, NODES, older));
    }

    private static Duration longestGrace() {
        return TuningProfile.ALL.stream()
                .map(TuningProfile::grace)
                .max(Duration::compareTo)
                .orElseThrow();
    }

    private static void print(Path log) throws IOException {
        List<AuditedWrite> writes;
        try (Stream<String> lines = Files.lines(log)) {
            writes = lines.map(AuditedWrite::of).toList();
        }
        System.out.println("| figure | planned | simulated | measured |\n|---|---|---|---|");
        for (TuningProfile profile : TuningProfile.ALL) {
            PlanSettings settings =
                    PlanSettings.builder(THOUSAND).profile(profile).build();
            Plan plan = Plan.of(settings);
            RefusedHeartbeats older = new RefusedHeartbeats(profile, profile.statusUpdate());
            RefusedHeartbeats newer = new RefusedHeartbeats(profile, settings.statusReport);
            Map<String, List<AuditedWrite>> updates = byNode(writes, OLDER + profile.name() + "-", "nodes");
            Map<String, List<AuditedWrite>> renewals = byNode(writes, NEWER + profile.name() + "-", "leases");
            row(
                    profile.name() + ", updates a minute of 1,000 older kubelets",
                    Numbers.text(plan.value(PlanFigure.STATUS_UPDATES)),
                    Numbers.text(older.updatesPerMinute() * THOUSAND),
                    Numbers.text(updatesPerMinute(updates) * THOUSAND));
            row(
                    profile.name() + ", tries to update the status, older kubelets",
                    range(plan.value(PlanFigure.FEWEST_ATTEMPTS), plan.value(PlanFigure.MOST_ATTEMPTS)),
                    range(older.statusTries()),
                    range(tries(updates, profile.grace())));
            row(
                    profile.name() + ", tries to update the Lease, up to ten a renewal",
                    range(plan.value(PlanFigure.FEWEST_RENEWALS), plan.value(PlanFigure.MOST_RENEWALS)) + " renewals",
                    range(newer.leaseTries()),
                    range(tries(renewals, profile.grace())));
        }
    }

    private static Map<String, List<AuditedWrite>> byNode(List<AuditedWrite> writes, String prefix, String resource) {
        return writes.stream()
                .filter(write -> write.node.startsWith(prefix) && write.resource.equals(resource))
                .collect(Collectors.groupingBy(AuditedWrite::node));
    }

    private static IntSummaryStatistics tries(Map<String, List<AuditedWrite>> byNode, Duration grace) {
        return byNode.values().stream().mapToInt(ofNode -> tries(ofNode, grace)).summaryStatistics();
    }

    /** Returns the updates of one node that succeeded; without its first one, which is part of the registration. */
    private static double updatesPerMinute(Map<String, List<AuditedWrite>> byNode) {
        long pauses = 0;
        Duration between = Duration.ZERO;
        for (List<AuditedWrite> ofNode : byNode.values()) {
            List<Instant> times = ofNode.stream()
                    .filter(write -> !write.refused)
                    .map(AuditedWrite::at)
                    .sorted()
                    .skip(1)
                    .toList();
            pauses += times.size() - 1;
            between = between.plus(Duration.between(times.get(0), times.get(times.size() - 1)));
        }
        return pauses * MINUTE / between.toMillis();
    }

    private static int tries(List<AuditedWrite> ofNode, Duration grace) {
        Instant end = ofNode.stream()
                .filter(write -> !write.refused)
                .map(AuditedWrite::at)
                .max(Instant::compareTo)
                .orElseThrow()
                .plus(grace);
        return (int) ofNode.stream()
                .filter(write -> write.refused && write.at.isBefore(end))
                .count();
    }

    private static void row(String figure, String planned, String simulated, String measured) {
        System.out.println("| " + figure + " | " + planned + " | " + simulated + " | " + measured + " |");
    }

    private static String range(IntSummaryStatistics nodes) {
        return range(nodes.getMin(), nodes.getMax()) + " (" + nodes.getCount() + " nodes)";
    }

    private static String range(double fewest, double most) {
        return Numbers.text(fewest) + " to " + Numbers.text(most);
    }
}
