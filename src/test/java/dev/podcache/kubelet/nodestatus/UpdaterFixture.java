package dev.podcache.kubelet.nodestatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.embedded.Verb;
import dev.podcache.node.NodeLister;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * An updater on a fake server, with a few setters whose values a test can change. Its random numbers make the delay of
 * reports zero.
 */
final class UpdaterFixture implements AutoCloseable {

    static final ObjectKey NODE = ObjectKey.of("", Nodes.NAME);
    /** The time from one sync to the next, with the jitter of these random numbers. */
    static final Duration SYNC = Duration.ofMillis(10_200);

    static final Duration REGISTERED = Duration.ofMillis(100);
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    final ManualTimekeeper time = new ManualTimekeeper();
    final FakeApiServer server = new FakeApiServer(time);
    final ObjectApi<Node> api = server.api(ObjectKind.NODE, TIMEOUT);
    final NodeLister lister = NodeLister.following(
            Nodes.NAME,
            server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + Nodes.NAME),
            new Recovery(time, () -> 0.0));

    /** The values that the setters set. */
    String memory = "20e9";

    boolean ready = true;
    int computed;
    int repeatedFailures;

    private final List<NodeStatusUpdater> updaters = new ArrayList<>();

    NodeStatusOptions.Builder options() {
        return NodeStatusOptions.builder(Nodes.initial().build())
                .setters(List.of(this::setResources, this::setConditions))
                .random(() -> 0.5)
                .onRepeatedFailure(() -> repeatedFailures++);
    }

    NodeStatusUpdater updater() {
        return updater(options -> options);
    }

    NodeStatusUpdater updater(Function<NodeStatusOptions.Builder, NodeStatusOptions.Builder> with) {
        NodeStatusUpdater updater =
                new NodeStatusUpdater(api, lister, time, with.apply(options()).build());
        updaters.add(updater);
        return updater;
    }

    /** Returns an updater that has registered and reported once. The log of calls begins after that. */
    NodeStatusUpdater started() {
        return started(options -> options);
    }

    /** As {@link #started()}, for an updater with these options. */
    NodeStatusUpdater started(Function<NodeStatusOptions.Builder, NodeStatusOptions.Builder> with) {
        NodeStatusUpdater updater = updater(with);
        updater.start();
        time.advance(REGISTERED);
        server.clearActions();
        return updater;
    }

    private void setResources(Node node, Instant now) {
        computed++;
        NodeStatus status = node.getStatus();
        status.setCapacity(Nodes.quantities("cpu", "2000m", "memory", memory));
        status.setAllocatable(Nodes.quantities("cpu", "1800m", "memory", minus(memory, "100e6")));
    }

    private static String minus(String quantity, String reserved) {
        return new Quantity(quantity)
                .getNumericalAmount()
                .subtract(new Quantity(reserved).getNumericalAmount())
                .toPlainString();
    }

    private void setConditions(Node node, Instant now) {
        setCondition(node, "MemoryPressure", "False", now);
        setCondition(node, "DiskPressure", "False", now);
        setCondition(node, "PIDPressure", "False", now);
        setCondition(node, "Ready", ready ? "True" : "False", now);
    }

    private static void setCondition(Node node, String type, String status, Instant now) {
        List<NodeCondition> conditions = new ArrayList<>(node.getStatus().getConditions());
        String time = now.truncatedTo(ChronoUnit.SECONDS).toString();
        NodeCondition condition = conditions.stream()
                .filter(existing -> existing.getType().equals(type))
                .findFirst()
                .orElse(null);
        if (condition == null) {
            condition = new NodeConditionBuilder().withType(type).build();
            conditions.add(condition);
        }
        if (!status.equals(condition.getStatus())) {
            condition.setStatus(status);
            condition.setLastTransitionTime(time);
        }
        condition.setLastHeartbeatTime(time);
        node.getStatus().setConditions(conditions);
    }

    // The server's Node and the calls

    Node node() {
        return server.cluster().get(Node.class, "", Nodes.NAME);
    }

    NodeCondition condition(String type) {
        return node().getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals(type))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the verbs of the calls, without those of the lister. */
    List<Verb> calls() {
        return server.actions().stream()
                .map(FakeApiServer.Action::verb)
                .filter(verb -> verb != Verb.LIST && verb != Verb.WATCH)
                .toList();
    }

    static ApiServerException failure(FailureReason reason) {
        return new ApiServerException(reason, 0, null, "answered " + reason, null);
    }

    @Override
    public void close() {
        for (NodeStatusUpdater updater : updaters) {
            updater.close();
        }
        lister.close();
        server.close();
        time.close();
    }
}
