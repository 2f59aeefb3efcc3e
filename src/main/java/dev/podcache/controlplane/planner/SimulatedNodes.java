package dev.podcache.controlplane.planner;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The Nodes of a simulation. Of a patch of a status, it applies the conditions and nothing else. The status of these
 * nodes has nothing else, and their metadata what {@link #metadata} copies.
 */
final class SimulatedNodes extends SimulatedObjects<Node> {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Consumer<SimulatedRequest> counted;

    SimulatedNodes(Consumer<SimulatedRequest> counted, Consumer<Node> changed) {
        super(changed);
        this.counted = counted;
    }

    @Override
    public CompletableFuture<Node> get(ObjectKey key) {
        counted.accept(SimulatedRequest.OTHER);
        return super.get(key);
    }

    @Override
    public CompletableFuture<Node> create(Node node) {
        counted.accept(SimulatedRequest.OTHER);
        return super.create(node);
    }

    @Override
    public CompletableFuture<Node> patchStatus(ObjectKey key, String patch) {
        counted.accept(SimulatedRequest.NODE_STATUS);
        try {
            List<NodeCondition> changed = new ArrayList<>();
            for (JsonNode condition : JSON.readTree(patch).path("status").path("conditions")) {
                changed.add(patched(condition(key.name(), condition.path("type").asText()), condition));
            }
            return CompletableFuture.completedFuture(withConditions(key.name(), changed));
        } catch (JsonProcessingException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Returns a condition of a Node; one without fields if the Node has none of this type. */
    private NodeCondition condition(String node, String type) {
        for (NodeCondition each : known(node).getStatus().getConditions()) {
            if (type.equals(each.getType())) {
                return each;
            }
        }
        return new NodeCondition();
    }

    private static NodeCondition patched(NodeCondition before, JsonNode patch) {
        NodeCondition patched = new NodeCondition();
        patched.setLastHeartbeatTime(text(patch, "lastHeartbeatTime", before.getLastHeartbeatTime()));
        patched.setLastTransitionTime(text(patch, "lastTransitionTime", before.getLastTransitionTime()));
        patched.setMessage(text(patch, "message", before.getMessage()));
        patched.setReason(text(patch, "reason", before.getReason()));
        patched.setStatus(text(patch, "status", before.getStatus()));
        patched.setType(text(patch, "type", before.getType()));
        return patched;
    }

    private static @Nullable String text(JsonNode patch, String field, @Nullable String before) {
        JsonNode value = patch.get(field);
        return value == null ? before : value.textValue();
    }

    /** Adds or replaces conditions. */
    Node withConditions(String name, List<NodeCondition> changed) {
        Node node = known(name);
        List<NodeCondition> conditions = new ArrayList<>(node.getStatus().getConditions());
        for (NodeCondition one : changed) {
            conditions.removeIf(old -> one.getType().equals(old.getType()));
        }
        conditions.addAll(changed);
        NodeStatus status = new NodeStatus();
        status.setConditions(conditions);
        return stored(node, node.getMetadata().getAnnotations(), node.getSpec(), status);
    }

    Node withTaints(String name, List<Taint> taints) {
        Node node = known(name);
        NodeSpec spec = new NodeSpec();
        spec.setTaints(taints);
        return stored(node, node.getMetadata().getAnnotations(), spec, node.getStatus());
    }

    Node withAnnotation(String name, String annotation, String value) {
        Node node = known(name);
        Map<String, String> annotations = new HashMap<>();
        if (node.getMetadata().getAnnotations() != null) {
            annotations.putAll(node.getMetadata().getAnnotations());
        }
        annotations.put(annotation, value);
        return stored(node, annotations, node.getSpec(), node.getStatus());
    }

    private Node known(String name) {
        Node found = find(name);
        if (found == null) {
            throw new IllegalStateException("Node " + name + " is not simulated");
        }
        return found;
    }

    private Node stored(Node before, Map<String, String> annotations, @Nullable NodeSpec spec, NodeStatus status) {
        Node node = new Node();
        node.setApiVersion(before.getApiVersion());
        node.setKind(before.getKind());
        node.setMetadata(metadata(before.getMetadata(), annotations));
        node.setSpec(spec);
        node.setStatus(status);
        return store(node);
    }

    // not by builders, which take longer than the rest of a report
    private static ObjectMeta metadata(ObjectMeta before, Map<String, String> annotations) {
        ObjectMeta copy = new ObjectMeta();
        copy.setName(before.getName());
        copy.setUid(before.getUid());
        copy.setLabels(before.getLabels());
        copy.setAnnotations(annotations);
        return copy;
    }
}
