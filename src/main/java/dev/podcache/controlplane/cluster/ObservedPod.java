package dev.podcache.controlplane.cluster;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the controllers keep of a pod. Immutable; the tolerations and conditions are those of the pod and must not be
 * modified.
 */
public final class ObservedPod {

    private static final String DISRUPTED = "DisruptionTarget";

    private final ObjectKey key;
    private final String uid;
    private final String node;
    private final List<Toleration> tolerations;
    private final @Nullable PodCondition ready;
    private final boolean disrupted;
    private final boolean deleted;

    private ObservedPod(Pod pod) {
        this.key = ObjectKey.of(
                Objects.requireNonNullElse(pod.getMetadata().getNamespace(), ""),
                pod.getMetadata().getName());
        this.uid = Objects.requireNonNullElse(pod.getMetadata().getUid(), "");
        String assigned = pod.getSpec() == null ? null : pod.getSpec().getNodeName();
        this.node = Objects.requireNonNullElse(assigned, "");
        this.tolerations = pod.getSpec() == null ? List.of() : pod.getSpec().getTolerations();
        this.ready = condition(pod.getStatus(), "Ready");
        PodCondition disruption = condition(pod.getStatus(), DISRUPTED);
        this.disrupted = disruption != null && "True".equals(disruption.getStatus());
        this.deleted = pod.getMetadata().getDeletionTimestamp() != null;
    }

    /** Returns what the controllers keep of {@code pod}. */
    public static ObservedPod of(Pod pod) {
        return new ObservedPod(pod);
    }

    private static @Nullable PodCondition condition(@Nullable PodStatus status, String type) {
        if (status == null) {
            return null;
        }
        for (PodCondition condition : status.getConditions()) {
            if (type.equals(condition.getType())) {
                return condition;
            }
        }
        return null;
    }

    public ObjectKey key() {
        return key;
    }

    public String uid() {
        return uid;
    }

    /** Returns the name of the node to which the pod is assigned; "" if it is not assigned. */
    public String node() {
        return node;
    }

    public List<Toleration> tolerations() {
        return tolerations;
    }

    /** Returns the condition Ready; null if there is none. */
    public @Nullable PodCondition ready() {
        return ready;
    }

    /** Returns whether the condition DisruptionTarget is True. */
    public boolean isDisruptionTarget() {
        return disrupted;
    }

    /** Returns whether the pod is marked for deletion. */
    public boolean isBeingDeleted() {
        return deleted;
    }

    /** Returns {@code namespace/name}. */
    @Override
    public String toString() {
        return key.toString();
    }
}
