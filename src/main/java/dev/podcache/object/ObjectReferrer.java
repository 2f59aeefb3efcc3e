package dev.podcache.object;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A referrer that is a Kubernetes object of any kind but a pod, with or without a subject. */
final class ObjectReferrer implements Referrer {

    // written by hand: the equals and hashCode that a record generates allocate 24 bytes a call

    private final String uid;
    private final String kind;
    private final String namespace;
    private final String name;
    private final boolean onBehalf;
    private final Optional<Subject> subject;

    private ObjectReferrer(
            String uid, String kind, String namespace, String name, boolean onBehalf, Optional<Subject> subject) {
        this.uid = uid;
        this.kind = kind;
        this.namespace = namespace;
        this.name = name;
        this.onBehalf = onBehalf;
        this.subject = subject;
    }

    /** Implements {@link Referrer#of}. */
    static Referrer of(HasMetadata object) {
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
        return isPod(object, kind)
                ? PodKey.of(key.namespace(), key.name(), uid)
                : new ObjectReferrer(uid, kind, key.namespace(), key.name(), false, Optional.empty());
    }

    private static boolean isPod(HasMetadata object, String kind) {
        return object instanceof Pod || (kind.equals("Pod") && "v1".equals(object.getApiVersion()));
    }

    private static IllegalArgumentException withoutUid(String what) {
        return new IllegalArgumentException(
                what + " has no metadata.uid: register objects as the API server returned them");
    }

    @Override
    public Referrer onBehalfOf(@Nullable Subject newSubject) {
        return new ObjectReferrer(uid, kind, namespace, name, true, Optional.ofNullable(newSubject));
    }

    @Override
    public String uid() {
        return uid;
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public String namespace() {
        return namespace;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isOnBehalf() {
        return onBehalf;
    }

    @Override
    public Optional<Subject> subject() {
        return subject;
    }

    /** Compares all but the subject: with another one it is the same owner. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof ObjectReferrer that
                        && uid.equals(that.uid)
                        && name.equals(that.name)
                        && namespace.equals(that.namespace)
                        && kind.equals(that.kind));
    }

    @Override
    public int hashCode() {
        return uid.hashCode();
    }

    /** Returns a text such as {@code Database shop/orders(UID)}. */
    @Override
    public String toString() {
        return kind + " " + ObjectKey.of(namespace, name) + "(" + uid + ")";
    }
}
