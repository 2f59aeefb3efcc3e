package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of the ports through which a node agent writes. It must hold for every implementation of the ports and
 * every API server. A subclass provides both. Each test uses its own namespace and its own Node.
 */
@Timeout(180)
public abstract class AgentWritesContract {

    /** The time limit of calls to pods and events. */
    protected static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The duration of the Lease, which limits a heartbeat to 5 s. */
    protected static final Duration LEASE_DURATION = Duration.ofSeconds(60);

    private static final Duration SHORT = Duration.ofMillis(300);

    private final String namespace = "writes-" + UUID.randomUUID().toString().substring(0, 8);
    private final String node = "node-" + namespace;
    private final ObjectKey web = ObjectKey.of(namespace, "web");
    private final ObjectKey leaseKey = ObjectKey.of(namespace, node);

    /** The API server behind the ports. */
    public interface PodServer {
        /** Creates a namespace. */
        void createNamespace(String name);

        /** Creates a pod and returns it as stored. */
        Pod create(Pod pod);

        /** Stops answering requests. */
        void stall();
    }

    /** Returns the API server behind the ports. */
    protected abstract PodServer server();

    /** Returns the port for Nodes. */
    protected abstract ObjectApi<Node> nodes();

    /** Returns the port for Leases. */
    protected abstract ObjectApi<Lease> leases();

    /** Returns a port for pods whose calls fail after {@code timeout}. */
    protected abstract ObjectApi<Pod> pods(Duration timeout);

    /** Returns a port for events whose calls fail after {@code timeout}. */
    protected abstract ObjectApi<Event> events(Duration timeout);

    @BeforeEach
    void createNamespace() {
        server().createNamespace(namespace);
    }

    // Nodes

    @Test
    void createNode_withStatus_keepsIt() {
        Node created = nodes().create(newNode()).join();

        Node read = nodes().get(ObjectKey.of("", node)).join();
        assertThat(read.getMetadata().getUid())
                .isEqualTo(created.getMetadata().getUid())
                .isNotEmpty();
        assertThat(read.getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .containsExactly("Ready");
    }

    @Test
    void createNode_twice_alreadyExists() {
        nodes().create(newNode()).join();

        ApiServerException failure = failure(nodes().create(newNode()));

        assertThat(failure.reason()).isEqualTo(FailureReason.ALREADY_EXISTS);
        assertThat(failure.httpCode()).isEqualTo(409);
    }

    @Test
    void getNode_absent_notFound() {
        assertThat(failure(nodes().get(ObjectKey.of("", "nowhere"))).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void patchNodeStatus_withLabels_changesBothAndNoSpec() {
        nodes().create(newNode()).join();

        Node patched = nodes().patchStatus(ObjectKey.of("", node), """
                        {"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},"spec":{"unschedulable":true},
                         "status":{"conditions":[{"type":"DiskPressure","status":"False"}]}}""").join();

        assertThat(patched.getMetadata().getLabels()).containsEntry("a", "b");
        assertThat(patched.getMetadata().getAnnotations()).containsEntry("c", "d");
        assertThat(patched.getSpec().getUnschedulable()).isNull();
        assertThat(patched.getStatus().getConditions())
                .extracting(NodeCondition::getType)
                .containsExactlyInAnyOrder("Ready", "DiskPressure");
    }

    @Test
    void patchNodeStatus_absent_notFound() {
        assertThat(failure(nodes().patchStatus(ObjectKey.of("", "nowhere"), "{\"status\":{}}"))
                        .reason())
                .isEqualTo(FailureReason.NOT_FOUND);
    }

    // Leases

    @Test
    void createLease_renewTime_isExactToTheMicrosecond() {
        Lease created = leases().create(newLease()).join();

        assertThat(created.getSpec().getRenewTime()).isEqualTo(time("2026-01-01T00:00:00.123456Z"));
        assertThat(leases().get(leaseKey).join().getSpec()).isEqualTo(created.getSpec());
    }

    @Test
    void createLease_twice_alreadyExists() {
        leases().create(newLease()).join();

        assertThat(failure(leases().create(newLease())).reason()).isEqualTo(FailureReason.ALREADY_EXISTS);
    }

    @Test
    void createLease_badName_isRejected() {
        Lease bad = newLease()
                .edit()
                .editMetadata()
                .withName("No_Name")
                .endMetadata()
                .build();

        assertThat(failure(leases().create(bad)).reason()).isEqualTo(FailureReason.REJECTED);
    }

    @Test
    void getLease_absent_notFound() {
        assertThat(failure(leases().get(leaseKey)).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void updateLease_ofTheLatestVersion_succeeds() {
        Lease created = leases().create(newLease()).join();

        Lease updated =
                leases().update(renewed(created, "2026-01-01T00:00:10.5Z")).join();

        assertThat(updated.getSpec().getRenewTime()).isEqualTo(time("2026-01-01T00:00:10.5Z"));
        assertThat(updated.getMetadata().getResourceVersion())
                .isNotEqualTo(created.getMetadata().getResourceVersion());
    }

    @Test
    void updateLease_ofAnOldVersion_conflicts() {
        Lease created = leases().create(newLease()).join();
        leases().update(renewed(created, "2026-01-01T00:00:10Z")).join();

        ApiServerException failure = failure(leases().update(renewed(created, "2026-01-01T00:00:20Z")));

        assertThat(failure.reason()).isEqualTo(FailureReason.CONFLICT);
    }

    // Pods

    @Test
    void getPod_absent_notFound() {
        assertThat(failure(pods(PATIENCE).get(web)).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void patchPodStatus_ownUid_changesTheStatus() {
        Pod created = server().create(newPod());

        Pod patched = pods(PATIENCE).patchStatus(web, running(uid(created))).join();

        assertThat(patched.getStatus().getPhase()).isEqualTo("Running");
        assertThat(patched.getStatus().getPodIP()).isEqualTo("10.0.0.7");
        assertThat(pods(PATIENCE).get(web).join().getStatus()).isEqualTo(patched.getStatus());
    }

    @Test
    void patchPodStatus_otherUid_conflictsAndChangesNothing() {
        server().create(newPod());

        ApiServerException failure = failure(pods(PATIENCE).patchStatus(web, running("another")));

        assertThat(failure.reason()).isEqualTo(FailureReason.CONFLICT);
        assertThat(pods(PATIENCE).get(web).join().getStatus().getPhase()).isEqualTo("Pending");
    }

    @Test
    void patchPodStatus_absent_notFound() {
        assertThat(failure(pods(PATIENCE).patchStatus(web, running("any"))).reason())
                .isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void deletePod_ownUid_removesItAtOnce() {
        Pod created = server().create(newPod());

        Pod deleted = pods(PATIENCE).delete(web, uid(created)).join();

        assertThat(uid(deleted)).isEqualTo(uid(created));
        assertThat(failure(pods(PATIENCE).get(web)).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void deletePod_otherUid_conflictsAndRemovesNothing() {
        Pod created = server().create(newPod());

        ApiServerException failure = failure(pods(PATIENCE).delete(web, "another"));

        assertThat(failure.reason()).isEqualTo(FailureReason.CONFLICT);
        assertThat(uid(pods(PATIENCE).get(web).join())).isEqualTo(uid(created));
    }

    @Test
    void deletePod_absent_notFound() {
        assertThat(failure(pods(PATIENCE).delete(web, "any")).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    // Events

    @Test
    void createEvent_then_patchCounts() {
        events(PATIENCE).create(newEvent()).join();

        Event patched = events(PATIENCE)
                .patch(ObjectKey.of(namespace, "web.1"), "{\"count\":2,\"message\":\"again\"}")
                .join();

        assertThat(patched.getCount()).isEqualTo(2);
        assertThat(patched.getMessage()).isEqualTo("again");
        assertThat(patched.getReason()).isEqualTo("Failed");
    }

    @Test
    void createEvent_twice_alreadyExists() {
        events(PATIENCE).create(newEvent()).join();

        assertThat(failure(events(PATIENCE).create(newEvent())).reason()).isEqualTo(FailureReason.ALREADY_EXISTS);
    }

    @Test
    void patchEvent_forgotten_notFound() {
        ApiServerException failure = failure(events(PATIENCE).patch(ObjectKey.of(namespace, "web.1"), "{\"count\":2}"));

        assertThat(failure.reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    // Time

    @Test
    void anyCall_noAnswer_timesOut() {
        server().stall();

        CompletableFuture<?> pod = pods(SHORT).get(web);
        CompletableFuture<?> event = events(SHORT).create(newEvent());
        CompletableFuture<?> heartbeat = nodes().get(ObjectKey.of("", node));

        assertThat(failure(pod).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure(event).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure(heartbeat).reason()).isEqualTo(FailureReason.TIMEOUT);
    }

    private Node newNode() {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(node)
                .endMetadata()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build();
    }

    private Lease newLease() {
        return new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(node)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(node)
                .withLeaseDurationSeconds(40)
                .withRenewTime(time("2026-01-01T00:00:00.123456Z"))
                .endSpec()
                .build();
    }

    private static Lease renewed(Lease lease, String at) {
        return lease.edit().editSpec().withRenewTime(time(at)).endSpec().build();
    }

    private Pod newPod() {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .addNewContainer()
                .withName("c")
                .withImage("i")
                .endContainer()
                .endSpec()
                .build();
    }

    private Event newEvent() {
        return new EventBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("web.1")
                .endMetadata()
                .withNewInvolvedObject()
                .withKind("Pod")
                .withNamespace(namespace)
                .withName("web")
                .endInvolvedObject()
                .withReason("Failed")
                .withType("Warning")
                .withMessage("once")
                .withCount(1)
                .build();
    }

    private static String running(String uid) {
        return "{\"metadata\":{\"uid\":\"" + uid + "\"},\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.7\","
                + "\"podIPs\":[{\"ip\":\"10.0.0.7\"}]}}";
    }

    private static String uid(Pod pod) {
        return pod.getMetadata().getUid();
    }

    private static ZonedDateTime time(String text) {
        return ZonedDateTime.parse(text);
    }

    private static ApiServerException failure(CompletableFuture<?> call) {
        try {
            call.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                return failure;
            }
            throw e;
        }
        throw new AssertionError("the call succeeded");
    }
}
