package dev.podcache.embedded;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Arrays;

/** A resource that the cluster stores. */
public enum Resource {
    NODES(Node.class, "nodes", "no", Scope.CLUSTER),
    NAMESPACES(Namespace.class, "namespaces", "ns", Scope.CLUSTER),
    PODS(Pod.class, "pods", "po", Scope.NAMESPACE),
    SECRETS(Secret.class, "secrets", "", Scope.NAMESPACE),
    CONFIG_MAPS(ConfigMap.class, "configmaps", "cm", Scope.NAMESPACE),
    SERVICES(Service.class, "services", "svc", Scope.NAMESPACE),
    EVENTS(Event.class, "events", "ev", Scope.NAMESPACE),
    LEASES(Lease.class, "leases", "", Scope.NAMESPACE);

    private enum Scope {
        CLUSTER,
        NAMESPACE
    }

    private static final String COORDINATION = "coordination.k8s.io";

    private final Class<? extends HasMetadata> model;
    private final String plural;
    private final String shortName;
    private final Scope scope;

    Resource(Class<? extends HasMetadata> model, String plural, String shortName, Scope scope) {
        this.model = model;
        this.plural = plural;
        this.shortName = shortName;
        this.scope = scope;
    }

    /**
     * Returns the resource whose objects have the class {@code model}.
     *
     * @throws IllegalArgumentException if there is no such resource
     */
    public static Resource of(Class<?> model) {
        for (Resource resource : values()) {
            if (resource.model == model) {
                return resource;
            }
        }
        throw new IllegalArgumentException(
                "the in-memory cluster does not store " + model.getName() + ", only " + Arrays.toString(values()));
    }

    /** Returns the fabric8 class of the objects. */
    public Class<? extends HasMetadata> model() {
        return model;
    }

    /** Returns the plural name in URLs, such as {@code configmaps}. */
    public String plural() {
        return plural;
    }

    /** Returns the short name in kubectl, such as {@code cm}; empty if there is none. */
    String shortName() {
        return shortName;
    }

    /** Returns the kind in manifests, such as {@code ConfigMap}. */
    public String kind() {
        return model.getSimpleName();
    }

    /** Returns the API group; empty for the core group. */
    public String group() {
        return this == LEASES ? COORDINATION : "";
    }

    /** Returns the API version in manifests, such as {@code v1} or {@code coordination.k8s.io/v1}. */
    public String apiVersion() {
        return group().isEmpty() ? "v1" : group() + "/v1";
    }

    /** Returns whether the objects have a namespace. */
    public boolean namespaced() {
        return scope == Scope.NAMESPACE;
    }

    /** Returns whether the resource has a status subresource. */
    boolean hasStatus() {
        return switch (this) {
            case NODES, NAMESPACES, PODS, SERVICES -> true;
            case SECRETS, CONFIG_MAPS, EVENTS, LEASES -> false;
        };
    }

    /** Returns the name in messages of a kube-apiserver: the plural name, and the group unless it is the core group. */
    String qualified() {
        return group().isEmpty() ? plural : plural + "." + group();
    }
}
