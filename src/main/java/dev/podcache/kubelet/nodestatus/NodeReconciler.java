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

    // After reconcileCMADAnnotationWithExistingNode, updateDefaultLabels, reconcileExtendedResource and
    // reconcileHugePageResource of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go.

    static final ImmutableSet<String> MANAGED_LABELS = ImmutableSet.<String>builder()
            .addAll(NodeLabels.WELL_KNOWN)
            .add("node.kubernetes.io/windows-build")
            .build();

    private static final Quantity NONE = new Quantity("0");

    private NodeReconciler() {}

    /** Corrects annotation, labels, extended resources and huge pages. */
    static boolean reconcile(Node initial, Node existing, boolean resetExtended) {
        boolean changed = attachDetach(initial, existing);
        changed |= labels(initial, existing);
        changed |= extendedResources(initial, existing, resetExtended);
        changed |= hugePages(initial, existing);
        return changed;
    }

    static boolean attachDetach(Node initial, Node existing) {
        Map<String, String> annotations = copy(existing.getMetadata().getAnnotations());
        String wanted = copy(initial.getMetadata().getAnnotations()).get(InitialNode.ATTACH_DETACH);
        String found = annotations.get(InitialNode.ATTACH_DETACH);
        if (Strings.nullToEmpty(wanted).equals(Strings.nullToEmpty(found))) {
            return false;
        }
        if (wanted == null) {
            annotations.remove(InitialNode.ATTACH_DETACH);
        } else {
            annotations.put(InitialNode.ATTACH_DETACH, wanted);
        }
        existing.getMetadata().setAnnotations(annotations);
        return true;
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

    /**
     * Sets capacity and allocatable if they are empty.
     *
     * @param reset whether to set extended resources to zero, until a device plugin registers its devices again
     */
    static boolean extendedResources(Node initial, Node existing, boolean reset) {
        boolean changed = defaultResources(initial, existing);
        if (!reset) {
            return changed;
        }
        NodeStatus status = existing.getStatus();
        for (String resource : status.getCapacity().keySet().toArray(new String[0])) {
            if (ResourceNames.isExtended(resource)) {
                status.getCapacity().put(resource, NONE);
                status.getAllocatable().put(resource, NONE);
                changed = true;
            }
        }
        return changed;
    }

    static boolean hugePages(Node initial, Node existing) {
        boolean changed = defaultResources(initial, existing);
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

    private static boolean defaultResources(Node initial, Node existing) {
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
