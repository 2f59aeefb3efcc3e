package dev.podcache.pod;

import dev.podcache.object.ObjectKind;
import dev.podcache.object.Reference;
import java.util.Objects;

/**
 * One place in a pod's spec that names an object. Immutable.
 *
 * @param kind {@link ObjectKind#SECRET} or {@link ObjectKind#CONFIG_MAP}
 * @param reference the object and its usage
 * @param path the field that holds the name, such as {@code spec.volumes[0].secret}
 * @param optional whether the pod can start without the object: its {@code optional} is true, or it is a pull secret
 */
public record ReferencePath(ObjectKind<?> kind, Reference reference, String path, boolean optional) {

    public ReferencePath {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(path, "path");
    }
}
