package dev.podcache.controlplane.cluster;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Implements {@link ClusterWrites#to} with strategic merge patches. Thread-safe. */
final class ApiClusterWrites implements ClusterWrites {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final ObjectApi<Node> nodes;
    private final ObjectApi<Pod> pods;
    private final @Nullable ObjectApi<Lease> leases;

    ApiClusterWrites(ObjectApi<Node> nodes, ObjectApi<Pod> pods, @Nullable ObjectApi<Lease> leases) {
        this.nodes = nodes;
        this.pods = pods;
        this.leases = leases;
    }

    @Override
    public CompletableFuture<Long> renewTime(String node) {
        return leases == null
                ? ClusterWrites.super.renewTime(node)
                : leases.get(ObjectKey.of("kube-node-lease", node)).thenApply(LeaseTable::renewTime);
    }

    @Override
    public CompletableFuture<Node> getNode(String name) {
        return nodes.get(key(name));
    }

    @Override
    public CompletableFuture<Node> patchConditions(ObservedNode node, List<NodeCondition> changed) {
        ObjectNode patch = ofVersion(node);
        ArrayNode conditions = patch.putObject("status").putArray("conditions");
        changed.forEach(condition -> conditions.add(ModelJson.tree(condition)));
        return nodes.patchStatus(key(node.name()), patch.toString());
    }

    @Override
    public CompletableFuture<Node> patchTaints(ObservedNode node, List<Taint> taints) {
        ObjectNode patch = ofVersion(node);
        ObjectNode spec = patch.putObject("spec");
        if (taints.isEmpty()) {
            spec.putNull("taints");
        } else {
            // this list has no merge key, so the patch replaces all of it
            ArrayNode replaced = spec.putArray("taints");
            taints.forEach(taint -> replaced.add(ModelJson.tree(taint)));
        }
        return nodes.patch(key(node.name()), patch.toString());
    }

    @Override
    public CompletableFuture<Node> annotate(String node, String annotation, String value) {
        ObjectNode patch = JSON.objectNode();
        patch.putObject("metadata").putObject("annotations").put(annotation, value);
        return nodes.patch(key(node), patch.toString());
    }

    @Override
    public CompletableFuture<Pod> patchCondition(ObservedPod pod, PodCondition condition) {
        ObjectNode patch = JSON.objectNode();
        patch.putObject("metadata").put("uid", pod.uid());
        patch.putObject("status").putArray("conditions").add(ModelJson.tree(condition));
        return pods.patchStatus(pod.key(), patch.toString());
    }

    @Override
    public CompletableFuture<Pod> delete(ObservedPod pod) {
        return pods.deleteGracefully(pod.key(), pod.uid());
    }

    private static ObjectNode ofVersion(ObservedNode node) {
        ObjectNode patch = JSON.objectNode();
        patch.putObject("metadata").put("uid", node.uid()).put("resourceVersion", node.resourceVersion());
        return patch;
    }

    private static ObjectKey key(String node) {
        return ObjectKey.of("", node);
    }
}
