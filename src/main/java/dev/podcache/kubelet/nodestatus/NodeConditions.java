package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The conditions of a node's status, and their wire constants. */
final class NodeConditions {

    static final String TRUE = "True";
    static final String FALSE = "False";
    static final String UNKNOWN = "Unknown";

    private NodeConditions() {}

    /** The condition of that type to be changed in place, the last one if there are several; null if there is none. */
    static @Nullable NodeCondition find(Node node, String type) {
        NodeCondition found = null;
        for (NodeCondition condition : node.getStatus().getConditions()) {
            if (type.equals(condition.getType())) {
                found = condition;
            }
        }
        return found;
    }

    /** Appends a condition of that type and of unknown status, to be changed in place. */
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
