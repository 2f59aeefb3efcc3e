package dev.podcache.object;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A referrer that is a Kubernetes object of any kind. */
record ObjectReferrer(String uid, String kind, String namespace, String name) implements Referrer {

    static ObjectReferrer of(HasMetadata object) {
        @Nullable ObjectMeta metadata = Objects.requireNonNull(object, "object").getMetadata();
        String kind = Strings.nullToEmpty(object.getKind());
        if (metadata == null) {
            throw withoutUid(kind + " without metadata");
        }
        ObjectKey key =
                ObjectKey.of(Strings.nullToEmpty(metadata.getNamespace()), Strings.nullToEmpty(metadata.getName()));
        @Nullable String uid = metadata.getUid();
        if (uid == null || uid.isEmpty()) {
            throw withoutUid(kind + " " + key);
        }
        return new ObjectReferrer(uid, kind, key.namespace(), key.name());
    }

    private static IllegalArgumentException withoutUid(String what) {
        return new IllegalArgumentException(
                what + " has no metadata.uid: register objects as the API server returned them");
    }

    /** Returns a text such as {@code Database shop/orders(UID)}. */
    @Override
    public String toString() {
        return kind + " " + ObjectKey.of(namespace, name) + "(" + uid + ")";
    }
}
