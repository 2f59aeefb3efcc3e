package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.host.ResourceNames;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Corrects the parts of an existing Node that registration is responsible for, so that they agree with the Node that
 * would have been created. Each method modifies {@code existing}, and returns whether it changed anything.
 */
final class NodeReconciler {

    // After reconcileCMADAnnotationWithExistingNode, updateDefaultLabels, updateDefaultResources and
    // reconcileHugePageResource of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go. Extended resources stay
    // as they
    // are: a kubelet sets them to zero after a reboot, until its device plugins have come back, and here are none.

    static final ImmutableSet<String> MANAGED_LABELS = ImmutableSet.<String>builder()
            .addAll(NodeLabels.WELL_KNOWN)
            .add("node.kubernetes.io/windows-build")
            .build();

    private NodeReconciler() {}

    /** Corrects annotation, labels, resources that are missing, and huge pages. */
    static boolean reconcile(Node initial, Node existing) {
        boolean changed = attachDetach(existing);
        changed |= labels(initial, existing);
        changed |= defaultResources(initial, existing);
        changed |= hugePages(initial, existing);
        return changed;
    }

    private static boolean attachDetach(Node existing) {
        Map<String, String> annotations = copy(existing.getMetadata().getAnnotations());
        boolean changed = !"true".equals(annotations.put(InitialNode.ATTACH_DETACH, "true"));
        existing.getMetadata().setAnnotations(annotations);
        return changed;
    }

    /** Sets the {@link #MANAGED_LABELS} that {@code initial} has. A label with an empty value is removed. */
    static boolean labels(Node initial, Node existing) {
        ObjectMeta metadata = existing.getMetadata();
        Map<String, String> labels = copy(metadata.getLabels());
        boolean changed = false;
        for (Map.Entry<String, String> wanted :
                copy(initial.getMetadata().getLabels()).entrySet()) {
            String key = wanted.getKey();
            if (MANAGED_LABELS.contains(key)) {
                changed |= !wanted.getValue().equals(Strings.nullToEmpty(labels.put(key, wanted.getValue())));
                labels.remove(key, "");
            }
        }
        metadata.setLabels(labels);
        return changed;
    }

    /** Call after {@link #defaultResources}. */
    static boolean hugePages(Node initial, Node existing) {
        boolean changed = false;
        NodeStatus wanted = initial.getStatus();
        NodeStatus status = existing.getStatus();
        for (String resource : copy(wanted.getCapacity()).keySet()) {
            if (ResourceNames.isHugePages(resource)) {
                changed |= copyQuantity(resource, wanted.getCapacity(), status.getCapacity());
                changed |= copyQuantity(resource, copy(wanted.getAllocatable()), status.getAllocatable());
            }
        }
        for (String resource : status.getCapacity().keySet().toArray(new String[0])) {
            if (ResourceNames.isHugePages(resource)
                    && !copy(wanted.getCapacity()).containsKey(resource)) {
                status.getCapacity().remove(resource);
                status.getAllocatable().remove(resource);
                changed = true;
            }
        }
        return changed;
    }

    private static boolean copyQuantity(String resource, Map<String, Quantity> from, Map<String, Quantity> to) {
        Quantity quantity = from.get(resource);
        return quantity != null && !quantity.equals(to.put(resource, quantity));
    }

    /** Sets capacity and allocatable if they are empty. */
    static boolean defaultResources(Node initial, Node existing) {
        NodeStatus wanted = initial.getStatus();
        NodeStatus status = existing.getStatus();
        Map<String, Quantity> capacity = copy(status.getCapacity());
        Map<String, Quantity> allocatable = copy(status.getAllocatable());
        boolean changed = fillIfEmpty(capacity, wanted.getCapacity());
        changed |= fillIfEmpty(allocatable, wanted.getAllocatable());
        status.setCapacity(capacity);
        status.setAllocatable(allocatable);
        return changed;
    }

    private static boolean fillIfEmpty(Map<String, Quantity> map, @Nullable Map<String, Quantity> with) {
        if (!map.isEmpty() || with == null || with.isEmpty()) {
            return false;
        }
        map.putAll(with);
        return true;
    }

    private static <V> Map<String, V> copy(@Nullable Map<String, V> map) {
        return map == null ? new LinkedHashMap<>() : new LinkedHashMap<>(map);
    }
}
