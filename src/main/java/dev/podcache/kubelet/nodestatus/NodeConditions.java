package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds and adds conditions in a Node's status. */
final class NodeConditions {

    static final String TRUE = "True";
    static final String FALSE = "False";
    static final String UNKNOWN = "Unknown";

    private NodeConditions() {}

    /** Returns the Node's own condition of {@code type}, the last one if there are several; null if there is none. */
    static @Nullable NodeCondition find(Node node, String type) {
        NodeCondition found = null;
        for (NodeCondition condition : node.getStatus().getConditions()) {
            if (type.equals(condition.getType())) {
                found = condition;
            }
        }
        return found;
    }

    /** Adds a condition of {@code type} with the status Unknown to the end of the list, and returns it. */
    static NodeCondition append(Node node, String type) {
        NodeCondition condition = new NodeCondition();
        condition.setType(type);
        condition.setStatus(UNKNOWN);
        List<NodeCondition> conditions = new ArrayList<>(node.getStatus().getConditions());
        conditions.add(condition);
        node.getStatus().setConditions(conditions);
        return condition;
    }
}
