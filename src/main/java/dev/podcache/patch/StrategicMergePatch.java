package dev.podcache.patch;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Objects;

/**
 * Kubernetes' strategic merge patch of one kind: a merge patch whose lists merge too, by a key that the API declares
 * (conditions by type, containers by name). Immutable.
 *
 * <p>Understood in both directions: {@code $patch: delete} and {@code $patch: replace} in objects and list elements,
 * {@code $setElementOrder/…}, {@code $deleteFromPrimitiveList/…} and {@code $retainKeys}.
 */
public final class StrategicMergePatch {

    // After apimachinery/pkg/util/strategicpatch/patch.go and the patch tags of api/core/v1/types.go of Kubernetes.

    private final MergeKeys keys;

    private StrategicMergePatch(MergeKeys keys) {
        this.keys = keys;
    }

    /**
     * The patches of {@code kind}, such as {@code Pod}. Of a kind that we have no table for,
     * only metadata has merged lists.
     */
    public static StrategicMergePatch of(String kind) {
        return new StrategicMergePatch(MergeKeys.of(Objects.requireNonNull(kind, "kind")));
    }

    /**
     * {@code original} after {@code patch}; neither is modified.
     *
     * @throws PatchException if a directive is unknown or misplaced, or a list element lacks its key
     */
    public ObjectNode apply(ObjectNode original, ObjectNode patch) {
        return new StrategicApply(keys).apply(original, patch);
    }

    /**
     * The patch that makes {@code modified} of {@code original}; empty if they are equal. It applies to other objects
     * too and then changes only what differed here.
     *
     * @throws PatchException if an element of a merged list lacks its key
     */
    public ObjectNode diff(ObjectNode original, ObjectNode modified) {
        return new StrategicDiff(keys).diff(original, modified);
    }
}
