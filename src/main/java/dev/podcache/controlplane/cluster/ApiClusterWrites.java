package dev.podcache.controlplane.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Implements {@link ClusterWrites#to} with strategic merge patches. Thread-safe. */
final class ApiClusterWrites implements ClusterWrites {

    private static final ObjectMapper JSON =
            JsonMapper.builder().findAndAddModules().build();

    private final ObjectApi<Node> nodes;
    private final ObjectApi<Pod> pods;

    ApiClusterWrites(ObjectApi<Node> nodes, ObjectApi<Pod> pods) {
        this.nodes = nodes;
        this.pods = pods;
    }

    @Override
    public CompletableFuture<Node> getNode(String name) {
        return nodes.get(key(name));
    }

    @Override
    public CompletableFuture<Node> patchConditions(ObservedNode node, List<NodeCondition> changed) {
        ObjectNode patch = ofVersion(node);
        patch.putObject("status").set("conditions", JSON.valueToTree(changed));
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
            spec.set("taints", JSON.valueToTree(taints));
        }
        return nodes.patch(key(node.name()), patch.toString());
    }

    @Override
    public CompletableFuture<Node> annotate(String node, String annotation, String value) {
        ObjectNode patch = JSON.createObjectNode();
        patch.putObject("metadata").putObject("annotations").put(annotation, value);
        return nodes.patch(key(node), patch.toString());
    }

    @Override
    public CompletableFuture<Pod> patchCondition(ObservedPod pod, PodCondition condition) {
        ObjectNode patch = JSON.createObjectNode();
        patch.putObject("metadata").put("uid", pod.uid());
        patch.putObject("status").putArray("conditions").add(JSON.valueToTree(condition));
        return pods.patchStatus(pod.key(), patch.toString());
    }

    @Override
    public CompletableFuture<Pod> delete(ObservedPod pod) {
        return pods.deleteGracefully(pod.key(), pod.uid());
    }

    private static ObjectNode ofVersion(ObservedNode node) {
        ObjectNode patch = JSON.createObjectNode();
        patch.putObject("metadata").put("uid", node.uid()).put("resourceVersion", node.resourceVersion());
        return patch;
    }

    private static ObjectKey key(String node) {
        return ObjectKey.of("", node);
    }
}
