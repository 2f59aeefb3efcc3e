package dev.podcache.object;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A referrer that is a Kubernetes object of any kind.
 *
 * @param namespace empty for an object without one
 */
record ObjectReferrer(String uid, String kind, String namespace, String name) implements Referrer {

    static ObjectReferrer of(HasMetadata object) {
        @Nullable ObjectMeta metadata = Objects.requireNonNull(object, "object").getMetadata();
        @Nullable String uid = metadata == null ? null : metadata.getUid();
        if (metadata == null || uid == null || uid.isEmpty()) {
            throw new IllegalArgumentException(object.getKind() + " "
                    + (metadata == null ? "without metadata" : path(metadata))
                    + " has no metadata.uid: register objects as the API server returned them");
        }
        return new ObjectReferrer(
                uid,
                Strings.nullToEmpty(object.getKind()),
                Strings.nullToEmpty(metadata.getNamespace()),
                Strings.nullToEmpty(metadata.getName()));
    }

    private static String path(ObjectMeta metadata) {
        return metadata.getNamespace() == null
                ? metadata.getName()
                : metadata.getNamespace() + "/" + metadata.getName();
    }

    /** Returns a text such as {@code Database shop/orders(UID)}. */
    @Override
    public String toString() {
        return kind + " " + (namespace.isEmpty() ? "" : namespace + "/") + name + "(" + uid + ")";
    }
}
