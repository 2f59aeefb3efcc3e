package dev.podcache.patch;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import org.jspecify.annotations.Nullable;

/**
 * The lists of one kind that merge, and the merge key of each, after the patch tags of {@code k8s.io/api}. Paths
 * contain no list indexes. A list without an entry is replaced as a whole (tolerations, taints, env sources, container
 * statuses).
 */
final class MergeKeys {

    /** Takes the place of a merge key in a list of plain values, which merges as a set. */
    static final String VALUES = "";

    private static final ImmutableMap<String, String> OF_METADATA =
            ImmutableMap.of("metadata.ownerReferences", "uid", "metadata.finalizers", VALUES);

    private static final ImmutableMap<String, String> OF_CONTAINER = ImmutableMap.of(
            "ports", "containerPort", "env", "name", "volumeMounts", "mountPath", "volumeDevices", "devicePath");

    private static final ImmutableMap<String, String> OF_POD = pod();

    private static final ImmutableMap<String, String> OF_NODE = ImmutableMap.<String, String>builder()
            .putAll(OF_METADATA)
            .put("spec.podCIDRs", VALUES)
            .put("status.conditions", "type")
            .put("status.addresses", "type")
            .buildOrThrow();

    private static final ImmutableMap<String, String> OF_SERVICE = ImmutableMap.<String, String>builder()
            .putAll(OF_METADATA)
            .put("spec.ports", "port")
            .put("status.conditions", "type")
            .buildOrThrow();

    private static final ImmutableMap<String, String> OF_SERVICE_ACCOUNT = ImmutableMap.<String, String>builder()
            .putAll(OF_METADATA)
            .put("secrets", "name")
            .buildOrThrow();

    private static final ImmutableMap<String, String> OF_CONDITIONS = ImmutableMap.<String, String>builder()
            .putAll(OF_METADATA)
            .put("status.conditions", "type")
            .buildOrThrow();

    /** Lists of unions: the patch of an element names the fields to keep ({@code $retainKeys}). */
    private static final ImmutableSet<String> RETAIN_KEYS_OF_POD =
            ImmutableSet.of("spec.volumes", "spec.resourceClaims", "status.resourceClaimStatuses");

    private final ImmutableMap<String, String> keys;
    private final ImmutableSet<String> retainKeys;

    private MergeKeys(ImmutableMap<String, String> keys, ImmutableSet<String> retainKeys) {
        this.keys = keys;
        this.retainKeys = retainKeys;
    }

    /**
     * Returns the lists of a kind.
     *
     * @throws PatchException if they are not known
     */
    static MergeKeys of(String kind) {
        return switch (kind) {
            case "Pod" -> new MergeKeys(OF_POD, RETAIN_KEYS_OF_POD);
            case "Node" -> new MergeKeys(OF_NODE, ImmutableSet.of());
            case "Service" -> new MergeKeys(OF_SERVICE, ImmutableSet.of());
            case "ServiceAccount" -> new MergeKeys(OF_SERVICE_ACCOUNT, ImmutableSet.of());
            case "PodTemplate" -> ofTemplate(OF_METADATA, "template.");
            case "CronJob" -> ofTemplate(OF_METADATA, "spec.jobTemplate.spec.template.");
            case "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet" ->
                ofTemplate(OF_CONDITIONS, "spec.template.");
            case "APIService",
                    "FlowSchema",
                    "HorizontalPodAutoscaler",
                    "Namespace",
                    "PersistentVolumeClaim",
                    "PriorityLevelConfiguration" -> new MergeKeys(OF_CONDITIONS, ImmutableSet.of());
            case "CertificateSigningRequest",
                    "ClusterRole",
                    "ClusterRoleBinding",
                    "ClusterTrustBundle",
                    "ConfigMap",
                    "ControllerRevision",
                    "CSIDriver",
                    "CustomResourceDefinition",
                    "Endpoints",
                    "EndpointSlice",
                    "Event",
                    "Ingress",
                    "IngressClass",
                    "Lease",
                    "LimitRange",
                    "NetworkPolicy",
                    "PersistentVolume",
                    "PriorityClass",
                    "ResourceQuota",
                    "Role",
                    "RoleBinding",
                    "RuntimeClass",
                    "Secret",
                    "StorageClass",
                    "VolumeAttachment" -> new MergeKeys(OF_METADATA, ImmutableSet.of());
            default -> throw PatchException.malformed("the lists of a " + kind + " that merge are not known");
        };
    }

    private static MergeKeys ofTemplate(ImmutableMap<String, String> own, String prefix) {
        ImmutableMap.Builder<String, String> all = ImmutableMap.builder();
        all.putAll(own);
        OF_POD.forEach((list, key) -> {
            if (!list.startsWith("status.")) {
                all.put(prefix + list, key);
            }
        });
        ImmutableSet<String> unions =
                RETAIN_KEYS_OF_POD.stream().map(list -> prefix + list).collect(ImmutableSet.toImmutableSet());
        return new MergeKeys(all.buildOrThrow(), unions);
    }

    private static ImmutableMap<String, String> pod() {
        ImmutableMap.Builder<String, String> pod = ImmutableMap.builder();
        pod.putAll(OF_METADATA);
        for (String containers : new String[] {"spec.containers", "spec.initContainers", "spec.ephemeralContainers"}) {
            pod.put(containers, "name");
            OF_CONTAINER.forEach((list, key) -> pod.put(containers + "." + list, key));
        }
        return pod.put("spec.volumes", "name")
                .put("spec.imagePullSecrets", "name")
                .put("spec.hostAliases", "ip")
                .put("spec.topologySpreadConstraints", "topologyKey")
                .put("spec.schedulingGates", "name")
                .put("spec.resourceClaims", "name")
                .put("status.conditions", "type")
                .put("status.podIPs", "ip")
                .put("status.hostIPs", "ip")
                .put("status.resourceClaimStatuses", "name")
                .buildOrThrow();
    }

    /**
     * Returns the merge key of the list at {@code path}, or {@link #VALUES}; null if the list is replaced as a whole.
     */
    @Nullable
    String keyOf(String path) {
        return keys.get(path);
    }

    /** Returns whether the elements of the list at {@code path} are unions. */
    boolean retainsKeys(String path) {
        return retainKeys.contains(path);
    }
}
