package dev.podcache.object;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * A kind of API object: its model class, its name in messages and its path in URLs. Has one constant for each kind that
 * Podcache reads or writes. Immutable.
 *
 * @param <T> the model class
 */
public final class ObjectKind<T extends HasMetadata> {

    private static final String CORE = "/api/v1";

    public static final ObjectKind<Secret> SECRET =
            new ObjectKind<>(Secret.class, "Secret", CORE, true, secret -> Boolean.TRUE.equals(secret.getImmutable()));
    public static final ObjectKind<ConfigMap> CONFIG_MAP =
            new ObjectKind<>(ConfigMap.class, "ConfigMap", CORE, true, map -> Boolean.TRUE.equals(map.getImmutable()));
    public static final ObjectKind<Pod> POD = new ObjectKind<>(Pod.class, "Pod", CORE, true, pod -> false);
    public static final ObjectKind<Node> NODE = new ObjectKind<>(Node.class, "Node", CORE, false, node -> false);
    public static final ObjectKind<Service> SERVICE =
            new ObjectKind<>(Service.class, "Service", CORE, true, service -> false);
    public static final ObjectKind<Event> EVENT = new ObjectKind<>(Event.class, "Event", CORE, true, event -> false);
    public static final ObjectKind<Lease> LEASE =
            new ObjectKind<>(Lease.class, "Lease", "/apis/coordination.k8s.io/v1", true, lease -> false);

    private final Class<T> model;
    private final String name;
    private final String root;
    private final boolean namespaced;
    private final Predicate<T> immutable;

    private ObjectKind(Class<T> model, String name, String root, boolean namespaced, Predicate<T> immutable) {
        this.model = model;
        this.name = name;
        this.root = root;
        this.namespaced = namespaced;
        this.immutable = immutable;
    }

    public Class<T> model() {
        return model;
    }

    /** Returns the kind as in manifests, such as {@code ConfigMap}. */
    public String name() {
        return name;
    }

    /** Returns the resource as in URLs and RBAC rules, such as {@code configmaps}. */
    public String plural() {
        return name.toLowerCase(Locale.ROOT) + "s";
    }

    public boolean namespaced() {
        return namespaced;
    }

    /** Returns whether the object is marked {@code immutable: true}, so its content never changes. */
    public boolean isImmutable(T object) {
        return immutable.test(object);
    }

    /**
     * Returns a validated key of an object of this kind.
     *
     * @param namespace empty if, and only if, the kind is cluster-scoped
     * @throws IllegalArgumentException if an argument is not legal; the message quotes it and says what is allowed
     */
    public ObjectKey validatedKey(String namespace, String name) {
        if (namespaced) {
            return ObjectKey.validated(namespace, name);
        }
        if (!namespace.isEmpty()) {
            throw new IllegalArgumentException(
                    "a " + this.name + " has no namespace, but \"" + namespace + "\" was given: give an empty one");
        }
        return ObjectKey.validatedClusterScoped(name);
    }

    /** Returns whether {@link #validatedKey} would accept this key. */
    public boolean isLegal(ObjectKey key) {
        return namespaced ? key.isLegal() : key.namespace().isEmpty() && ObjectKey.isLegalName(key.name());
    }

    /** Returns the path of an object, such as {@code /api/v1/namespaces/shop/secrets/db}. */
    public String path(ObjectKey key) {
        return collectionPath(key.namespace()) + "/" + key.name();
    }

    /**
     * Returns the path of the collection, such as {@code /api/v1/namespaces/shop/secrets}.
     *
     * @param namespace empty for all namespaces, or for a cluster-scoped kind
     */
    public String collectionPath(String namespace) {
        Objects.requireNonNull(namespace, "namespace");
        return root + "/" + (namespace.isEmpty() ? "" : "namespaces/" + namespace + "/") + plural();
    }

    /** Returns the {@link #name()}. */
    @Override
    public String toString() {
        return name;
    }
}
