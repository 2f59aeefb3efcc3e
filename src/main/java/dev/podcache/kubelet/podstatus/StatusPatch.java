package dev.podcache.kubelet.podstatus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.PodStatus;

/**
 * A patch that changes one status of a pod into another.
 *
 * @param json a strategic merge patch with sorted fields; contains the pod's UID, so that it cannot apply to another
 *     pod
 * @param unchanged whether the patch would change nothing
 */
record StatusPatch(String json, boolean unchanged) {

    // Follows PatchPodStatus of pkg/util/pod/pod.go of Kubernetes.

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED).build();
    private static final StrategicMergePatch PODS = StrategicMergePatch.of("Pod");

    /** Returns the patch from {@code before} to {@code after} for the pod with this UID. */
    static StatusPatch between(String uid, PodStatus before, PodStatus after) {
        ObjectNode original = MAPPER.createObjectNode();
        original.set("status", CanonicalStatus.tree(before));
        ObjectNode modified = MAPPER.createObjectNode();
        modified.putObject("metadata").put("uid", uid);
        modified.set("status", CanonicalStatus.tree(after));
        ObjectNode patch = PODS.diff(original, modified);
        try {
            return new StatusPatch(MAPPER.writeValueAsString(patch), !patch.has("status"));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a JSON tree as text", e);
        }
    }
}
