package dev.podcache.object;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A referrer that is a Kubernetes object of any kind.
 *
 * @param name kind, namespace and name, for messages
 */
record ObjectReferrer(String uid, String name) implements Referrer {

    static ObjectReferrer of(HasMetadata object) {
        @Nullable ObjectMeta metadata = Objects.requireNonNull(object, "object").getMetadata();
        String name = object.getKind() + " " + (metadata == null ? "without metadata" : key(metadata));
        @Nullable String uid = metadata == null ? null : metadata.getUid();
        if (uid == null || uid.isEmpty()) {
            throw new IllegalArgumentException(
                    name + " has no metadata.uid: register objects as the API server returned them");
        }
        return new ObjectReferrer(uid, name);
    }

    private static String key(ObjectMeta metadata) {
        return metadata.getNamespace() == null
                ? metadata.getName()
                : metadata.getNamespace() + "/" + metadata.getName();
    }

    /** Returns a text such as {@code Database shop/orders(UID)}. */
    @Override
    public String toString() {
        return name + "(" + uid + ")";
    }
}
