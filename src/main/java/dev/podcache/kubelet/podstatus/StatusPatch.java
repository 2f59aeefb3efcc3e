package dev.podcache.kubelet.podstatus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.PodStatus;

/**
 * A patch that changes one status of a pod into another.
 *
 * @param tree a strategic merge patch; contains the pod's UID, so that it cannot apply to another pod. Not modified
 */
record StatusPatch(ObjectNode tree) {

    // Follows PatchPodStatus of pkg/util/pod/pod.go of Kubernetes.

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(JsonNodeFeature.WRITE_PROPERTIES_SORTED).build();
    private static final StrategicMergePatch PODS = StrategicMergePatch.of("Pod");
    private static final String STATUS = "status";

    /** Returns the patch from {@code before} to {@code after} for the pod with this UID. */
    static StatusPatch between(String uid, PodStatus before, PodStatus after) {
        ObjectNode modified = pod(CanonicalStatus.tree(after));
        modified.putObject("metadata").put("uid", uid);
        return new StatusPatch(PODS.diff(pod(CanonicalStatus.tree(before)), modified));
    }

    private static ObjectNode pod(ObjectNode status) {
        return MAPPER.createObjectNode().set(STATUS, status);
    }

    /** Returns whether the patch would change nothing. */
    boolean unchanged() {
        return !tree.has(STATUS);
    }

    /** Returns {@code status} with the patch applied. */
    PodStatus applied(PodStatus status) {
        ObjectNode patched = PODS.apply(pod(CanonicalStatus.tree(status)), tree);
        return ModelJson.model(patched.path(STATUS), PodStatus.class);
    }

    /** Returns the patch as JSON, with sorted fields. */
    String json() {
        try {
            return MAPPER.writeValueAsString(tree);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a JSON tree as text", e);
        }
    }
}
