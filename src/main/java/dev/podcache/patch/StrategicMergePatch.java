package dev.podcache.patch;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Objects;

/**
 * The strategic merge patch of one Kubernetes kind: a merge patch that also merges lists, by a key that the API
 * declares (conditions by type, containers by name). Immutable.
 *
 * <p>Supports {@code $patch: delete} and {@code $patch: replace} in objects and list elements, {@code
 * $setElementOrder/…}, {@code $deleteFromPrimitiveList/…} and {@code $retainKeys}.
 */
public final class StrategicMergePatch {

    // Follows apimachinery/pkg/util/strategicpatch/patch.go and the patch tags of the types.go files of k8s.io/api in
    // Kubernetes.

    private final MergeKeys keys;

    private StrategicMergePatch(MergeKeys keys) {
        this.keys = keys;
    }

    /**
     * Returns the strategic merge patch of {@code kind}, such as {@code Pod}.
     *
     * @throws PatchException if it is not known which lists of the kind merge
     */
    public static StrategicMergePatch of(String kind) {
        return new StrategicMergePatch(MergeKeys.of(Objects.requireNonNull(kind, "kind")));
    }

    /**
     * Returns {@code original} with {@code patch} applied. Modifies neither.
     *
     * @throws PatchException if a directive is unknown or misplaced, or an element of a merged list lacks its key
     */
    public ObjectNode apply(ObjectNode original, ObjectNode patch) {
        return new StrategicApply(keys).apply(original, patch);
    }

    /**
     * Returns the patch that turns {@code original} into {@code modified}; an empty object if they are equal. Applied
     * to another object, the patch changes only what differed here.
     *
     * @throws PatchException if an element of a merged list lacks its key
     */
    public ObjectNode diff(ObjectNode original, ObjectNode modified) {
        return new StrategicDiff(keys).diff(original, modified);
    }
}
