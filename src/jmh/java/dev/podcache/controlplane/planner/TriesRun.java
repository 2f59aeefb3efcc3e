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
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
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
 * update, as older kubelets do. After two and a half minutes, a webhook that does not answer makes the server refuse
 * every update of a Lease or a status with 500. Counted are the refusals from the last update of a node that succeeded until
 * the grace period is over. Prints a table: the fewest and the most of ten nodes. Takes eight minutes.
 */
public final class TriesRun {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NODES = 10;
    private static final int FIRST_REFUSAL = 400;
    private static final Duration SETTLING = Duration.ofSeconds(150);
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
        System.out.println("| tries in the grace period | planned | measured |\n|---|---|---|");
        for (TuningProfile profile : TuningProfile.ALL) {
            Plan plan = Plan.of(PlanSettings.builder(NODES).profile(profile).build());
            row(
                    profile.name() + ", updates of older kubelets",
                    plan.value(PlanFigure.FEWEST_ATTEMPTS),
                    plan.value(PlanFigure.MOST_ATTEMPTS),
                    tries(writes, OLDER + profile.name() + "-", "nodes", profile.grace()));
            row(
                    profile.name() + ", updates of the Lease, renewals planned",
                    plan.value(PlanFigure.FEWEST_RENEWALS),
                    plan.value(PlanFigure.MOST_RENEWALS),
                    tries(writes, NEWER + profile.name() + "-", "leases", profile.grace()));
        }
    }

    private static IntSummaryStatistics tries(
            List<AuditedWrite> writes, String prefix, String resource, Duration grace) {
        TreeMap<String, List<AuditedWrite>> byNode = new TreeMap<>();
        writes.stream()
                .filter(write -> write.node.startsWith(prefix) && write.resource.equals(resource))
                .forEach(write -> byNode.computeIfAbsent(write.node, node -> new ArrayList<>())
                        .add(write));
        return byNode.values().stream().mapToInt(ofNode -> tries(ofNode, grace)).summaryStatistics();
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

    private static void row(String figure, double fewest, double most, IntSummaryStatistics measured) {
        System.out.println("| " + figure + " | " + Numbers.text(fewest) + " to " + Numbers.text(most) + " | "
                + measured.getMin() + " to " + measured.getMax() + " (" + measured.getCount() + " nodes) |");
    }
}
