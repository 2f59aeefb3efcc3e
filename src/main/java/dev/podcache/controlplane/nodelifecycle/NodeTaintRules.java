package dev.podcache.controlplane.nodelifecycle;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Decides which taints a Node must have. Pure functions. */
final class NodeTaintRules {

    static final String NOT_READY = "node.kubernetes.io/not-ready";
    static final String UNREACHABLE = "node.kubernetes.io/unreachable";
    static final String NO_SCHEDULE = "NoSchedule";
    static final String NO_EXECUTE = "NoExecute";

    private static final String UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

    /** The taint of a condition that is True. */
    private static final ImmutableMap<String, String> IF_TRUE = ImmutableMap.of(
            "MemoryPressure", "node.kubernetes.io/memory-pressure",
            "DiskPressure", "node.kubernetes.io/disk-pressure",
            "NetworkUnavailable", "node.kubernetes.io/network-unavailable",
            "PIDPressure", "node.kubernetes.io/pid-pressure");

    private static final ImmutableSet<String> MANAGED = ImmutableSet.<String>builder()
            .addAll(IF_TRUE.values())
            .add(NOT_READY, UNREACHABLE, UNSCHEDULABLE)
            .build();

    private NodeTaintRules() {}

    /** Returns whether the NoSchedule taints of a node are those of its conditions. */
    static boolean isScheduledRight(ObservedNode node) {
        if (node.taints().isEmpty()) {
            return wanted(node).isEmpty();
        }
        return wanted(node).equals(managed(node));
    }

    /**
     * Returns all taints of a node after its NoSchedule taints were made those of its conditions. Taints that are not
     * of conditions, and taints that were right, stay as they are.
     */
    static List<Taint> scheduledRight(ObservedNode node, Instant now) {
        Set<String> missing = wanted(node);
        List<Taint> taints = new ArrayList<>();
        for (Taint taint : node.taints()) {
            boolean managed = NO_SCHEDULE.equals(taint.getEffect()) && MANAGED.contains(taint.getKey());
            if (!managed || missing.remove(taint.getKey())) {
                taints.add(taint);
            }
        }
        missing.forEach(key -> taints.add(taint(key, NO_SCHEDULE, now)));
        return taints;
    }

    /**
     * Returns all taints of a node after NoExecute taints were exchanged.
     *
     * @param add the key of the taint that the node is to have
     * @param remove the key of the taint that it is not to have
     */
    static List<Taint> swapped(ObservedNode node, String add, String remove, Instant now) {
        List<Taint> taints = without(node, Set.of(remove));
        if (!node.hasTaint(add, NO_EXECUTE)) {
            taints.add(taint(add, NO_EXECUTE, now));
        }
        return taints;
    }

    /** Returns all taints of a node but the NoExecute taints with these keys. */
    static List<Taint> without(ObservedNode node, Set<String> keys) {
        List<Taint> taints = new ArrayList<>(node.taints());
        taints.removeIf(taint -> NO_EXECUTE.equals(taint.getEffect()) && keys.contains(taint.getKey()));
        return taints;
    }

    private static Set<String> wanted(ObservedNode node) {
        Set<String> keys = new LinkedHashSet<>();
        for (NodeCondition condition : node.conditions()) {
            String status = String.valueOf(condition.getStatus());
            if ("Ready".equals(condition.getType())) {
                if (status.equals("False")) {
                    keys.add(NOT_READY);
                } else if (status.equals("Unknown")) {
                    keys.add(UNREACHABLE);
                }
            } else if (status.equals("True") && IF_TRUE.containsKey(condition.getType())) {
                keys.add(IF_TRUE.get(condition.getType()));
            }
        }
        if (node.isUnschedulable()) {
            keys.add(UNSCHEDULABLE);
        }
        return keys;
    }

    private static Set<String> managed(ObservedNode node) {
        Set<String> keys = new LinkedHashSet<>();
        for (Taint taint : node.taints()) {
            if (NO_SCHEDULE.equals(taint.getEffect()) && MANAGED.contains(taint.getKey())) {
                keys.add(taint.getKey());
            }
        }
        return keys;
    }

    private static Taint taint(String key, String effect, Instant now) {
        return new TaintBuilder()
                .withKey(key)
                .withEffect(effect)
                .withTimeAdded(ApiTime.of(now))
                .build();
    }
}
