package dev.podcache.controlplane.cluster;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Nodes for tests of the controllers. */
public final class TestNodes {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private TestNodes() {}

    /** Returns a Node that was created long ago and has no status. */
    public static NodeBuilder silent(String name) {
        return created(name, Instant.parse("2012-01-01T00:00:00Z"));
    }

    /** Returns a Node without a status. */
    public static NodeBuilder created(String name, Instant time) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .withUid("uid-" + name)
                .withCreationTimestamp(ApiTime.of(time))
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .endStatus();
    }

    /** Returns a Node whose agent has just reported this status of Ready. */
    public static Node reporting(String name, String ready) {
        return withReady(silent(name).build(), ready, START);
    }

    /** Returns a Node in a zone of the region eu. */
    public static Node inZone(String name, String zone, String ready) {
        return new NodeBuilder(reporting(name, ready))
                .editMetadata()
                .addToLabels("topology.kubernetes.io/region", "eu")
                .addToLabels("topology.kubernetes.io/zone", zone)
                .endMetadata()
                .build();
    }

    /** Returns the Node with a condition Ready whose heartbeat is {@code now}. */
    public static Node withReady(Node node, String ready, Instant now) {
        return withConditions(node, List.of(condition("Ready", ready, now)));
    }

    /** Returns a condition with this time for heartbeat and transition. */
    public static NodeCondition condition(String type, String status, Instant time) {
        return new NodeConditionBuilder()
                .withType(type)
                .withStatus(status)
                // with the fraction of a second, so that two reports within a second differ
                .withLastHeartbeatTime(time.toString())
                .withLastTransitionTime(ApiTime.of(time))
                .build();
    }

    /** Returns the Node with these conditions added, or in the place of those of their types. */
    public static Node withConditions(Node node, List<NodeCondition> changed) {
        List<NodeCondition> merged = new ArrayList<>(node.getStatus().getConditions());
        for (NodeCondition condition : changed) {
            int at = -1;
            for (int i = 0; i < merged.size(); i++) {
                if (merged.get(i).getType().equals(condition.getType())) {
                    at = i;
                }
            }
            if (at < 0) {
                merged.add(condition);
            } else {
                merged.set(at, condition);
            }
        }
        return new NodeBuilder(node)
                .editStatus()
                .withConditions(merged)
                .endStatus()
                .build();
    }

    /** Returns the Node with these taints only. */
    public static Node withTaints(Node node, Taint... taints) {
        return new NodeBuilder(node)
                .editOrNewSpec()
                .withTaints(taints)
                .endSpec()
                .build();
    }

    /** Returns a taint without a value. */
    public static Taint taint(String key, String effect) {
        return new TaintBuilder().withKey(key).withEffect(effect).build();
    }

    /** Returns {@code key:effect} of each taint. */
    public static List<String> taints(Node node) {
        return node.getSpec().getTaints().stream()
                .map(taint -> taint.getKey().replace("node.kubernetes.io/", "") + ":" + taint.getEffect())
                .toList();
    }

    /** Returns the status of a condition; "" if there is none. */
    public static String status(Node node, String type) {
        return node.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals(type))
                .map(NodeCondition::getStatus)
                .findFirst()
                .orElse("");
    }
}
