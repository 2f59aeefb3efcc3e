package dev.podcache.controlplane.planner;

import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Nodes that write their status at every update, as older kubelets do: how many writes the server gets, and how often a
 * node tries within a grace period while the server fails every one. A webhook that nobody serves fails them.
 */
final class MeasuredAttempts {

    static final int NODES = 100;
    private static final Duration COUNTED = Duration.ofMinutes(2);

    private final RealApiServer server;
    private final KubernetesClient client;
    private final PlanSettings settings;
    private final HollowTemplate template;

    MeasuredAttempts(RealApiServer server, KubernetesClient client, PlanSettings settings) {
        this.server = server;
        this.client = client;
        this.settings = settings;
        template = new HollowTemplate()
                .prefix("trying-")
                .leaseDuration(settings.leaseDuration)
                .statusReport(settings.profile().statusUpdate());
    }

    /** What was counted, both per node. */
    record CountedTries(double updatesPerMinute, double inGracePeriod) {}

    CountedTries measure() throws InterruptedException {
        try (HollowNodes nodes = HollowNodes.start(client, NODES, template)) {
            PlanRun.await("all nodes are Ready", () -> nodes.ready() == NODES);
            // the first updates follow the registration, and none is due for a while
            TimeUnit.NANOSECONDS.sleep(settings.profile().statusUpdate().toNanos());
            double updates = writes(COUNTED) / TimeUnit.NANOSECONDS.toMinutes(COUNTED.toNanos());
            client.resource(refusal()).create();
            PlanRun.await("the server fails writes", this::fails);
            return new CountedTries(updates, writes(settings.profile().grace()));
        }
    }

    /** Returns how many writes of a node's status the server gets in this time. */
    private double writes(Duration time) throws InterruptedException {
        long before = server.metrics().requests("PATCH", "nodes");
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
        return (server.metrics().requests("PATCH", "nodes") - before) / (double) NODES;
    }

    private boolean fails() {
        try {
            client.nodes().withName(template.name(0)).editStatus(node -> {
                node.getStatus().setPhase("Tried");
                return node;
            });
            return false;
        } catch (KubernetesClientException e) {
            return e.getCode() == 500;
        }
    }

    private static ValidatingWebhookConfiguration refusal() {
        return new ValidatingWebhookConfigurationBuilder()
                .withNewMetadata()
                .withName("refuse-statuses")
                .endMetadata()
                .addNewWebhook()
                .withName("refuse.podcache.dev")
                .withSideEffects("None")
                .withAdmissionReviewVersions("v1")
                .withFailurePolicy("Fail")
                .withNewClientConfig()
                .withUrl("https://127.0.0.1:1/")
                .endClientConfig()
                .addNewRule()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("UPDATE")
                .withResources("nodes/status")
                .endRule()
                .endWebhook()
                .build();
    }
}
