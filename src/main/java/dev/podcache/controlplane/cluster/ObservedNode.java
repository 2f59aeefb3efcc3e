package dev.podcache.controlplane.cluster;

import dev.podcache.node.NodeTtlSource;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the controllers keep of a Node: much less than the Node, which lists the images of the machine. Immutable; the
 * conditions and taints are those of the Node and must not be modified.
 */
public final class ObservedNode {

    private static final String ZONE = "topology.kubernetes.io/zone";
    private static final String REGION = "topology.kubernetes.io/region";
    private static final String OLD_ZONE = "failure-domain.beta.kubernetes.io/zone";
    private static final String OLD_REGION = "failure-domain.beta.kubernetes.io/region";
    private static final String EXCLUDED = "node.kubernetes.io/exclude-disruption";

    private final ObjectMeta metadata;
    private final String zone;
    private final boolean excluded;
    private final boolean unschedulable;
    private final @Nullable String ttl;
    private final List<NodeCondition> conditions;
    private final List<Taint> taints;
    private final @Nullable NodeCondition ready;
    private final ReadyStatus readyStatus;

    private ObservedNode(Node node) {
        ObjectMeta whole = node.getMetadata();
        Map<String, String> labels = orEmpty(whole.getLabels());
        NodeSpec spec = node.getSpec();
        this.metadata = identity(whole);
        this.zone = zoneOf(labels);
        this.excluded = labels.containsKey(EXCLUDED);
        this.unschedulable = spec != null && Boolean.TRUE.equals(spec.getUnschedulable());
        this.ttl = orEmpty(whole.getAnnotations()).get(NodeTtlSource.ANNOTATION);
        this.conditions =
                node.getStatus() == null ? List.of() : node.getStatus().getConditions();
        // one empty list for all: the monitor looks at the taints of each node in each pass
        this.taints = spec == null || spec.getTaints().isEmpty() ? List.of() : spec.getTaints();
        this.ready = condition("Ready");
        this.readyStatus = ReadyStatus.of(ready);
    }

    /** Returns what the controllers keep of {@code node}. */
    public static ObservedNode of(Node node) {
        return new ObservedNode(node);
    }

    private static ObjectMeta identity(ObjectMeta whole) {
        ObjectMeta identity = new ObjectMeta();
        identity.setName(whole.getName());
        identity.setUid(whole.getUid());
        identity.setResourceVersion(whole.getResourceVersion());
        identity.setCreationTimestamp(whole.getCreationTimestamp());
        return identity;
    }

    private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
        return map == null ? Map.of() : map;
    }

    private static String zoneOf(Map<String, String> labels) {
        String zone = labels.getOrDefault(ZONE, labels.getOrDefault(OLD_ZONE, ""));
        String region = labels.getOrDefault(REGION, labels.getOrDefault(OLD_REGION, ""));
        // a label value has no slash
        return zone.isEmpty() && region.isEmpty() ? "" : region + "/" + zone;
    }

    public String name() {
        return metadata.getName();
    }

    public String uid() {
        return Objects.requireNonNullElse(metadata.getUid(), "");
    }

    /** Returns the version of the Node, which a write names as its precondition; "" if the Node has none. */
    public String resourceVersion() {
        return Objects.requireNonNullElse(metadata.getResourceVersion(), "");
    }

    /** Returns when the Node was created, as the API writes it; null if it does not say. */
    public @Nullable String creationTimestamp() {
        return metadata.getCreationTimestamp();
    }

    /** Returns when the Node was created; {@code now} if it does not say. */
    public Instant created(Instant now) {
        return ApiTime.parse(metadata.getCreationTimestamp()).orElse(now);
    }

    /** Returns region and zone, such as {@code eu/eu-1a}; "" if the Node has neither label. */
    public String zone() {
        return zone;
    }

    /** Returns whether the node does not count for the state of its zone. */
    public boolean isExcludedFromDisruption() {
        return excluded;
    }

    public boolean isUnschedulable() {
        return unschedulable;
    }

    /** Returns the annotation {@value NodeTtlSource#ANNOTATION}; null if there is none. */
    public @Nullable String ttl() {
        return ttl;
    }

    public List<NodeCondition> conditions() {
        return conditions;
    }

    public List<Taint> taints() {
        return taints;
    }

    /** Returns the condition Ready; null if there is none. */
    public @Nullable NodeCondition ready() {
        return ready;
    }

    public ReadyStatus readyStatus() {
        return readyStatus;
    }

    /** Returns the first condition of a type; null if there is none. */
    public @Nullable NodeCondition condition(String type) {
        for (NodeCondition condition : conditions) {
            if (type.equals(condition.getType())) {
                return condition;
            }
        }
        return null;
    }

    /** Returns whether the Node has a taint with this key and effect. */
    public boolean hasTaint(String key, String effect) {
        for (Taint taint : taints) {
            if (key.equals(taint.getKey()) && effect.equals(taint.getEffect())) {
                return true;
            }
        }
        return false;
    }

    /** Returns the name. */
    @Override
    public String toString() {
        return name();
    }
}
