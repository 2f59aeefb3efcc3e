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

/** What the cluster stores, as URLs and RBAC rules name it. */
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
     * The resource that stores objects of {@code model}.
     *
     * @throws IllegalArgumentException if none does
     */
    public static Resource of(Class<?> model) {
        for (Resource resource : values()) {
            if (resource.model == model) {
                return resource;
            }
        }
        throw new IllegalArgumentException(
                "the in-memory cluster stores no " + model.getName() + "; it knows " + Arrays.toString(values()));
    }

    /** The fabric8 class of its objects. */
    public Class<? extends HasMetadata> model() {
        return model;
    }

    /** As URLs write it, such as {@code configmaps}. */
    public String plural() {
        return plural;
    }

    /** As kubectl's users abbreviate it, such as {@code cm}; empty where there is none. */
    String shortName() {
        return shortName;
    }

    /** As manifests write it, such as {@code ConfigMap}. */
    public String kind() {
        return model.getSimpleName();
    }

    /** Empty for the core group. */
    public String group() {
        return this == LEASES ? COORDINATION : "";
    }

    /** As manifests write it, such as {@code v1} or {@code coordination.k8s.io/v1}. */
    public String apiVersion() {
        return group().isEmpty() ? "v1" : group() + "/v1";
    }

    public boolean namespaced() {
        return scope == Scope.NAMESPACE;
    }

    /** Whether it has a status that is written on its own. */
    boolean hasStatus() {
        return switch (this) {
            case NODES, NAMESPACES, PODS, SERVICES -> true;
            case SECRETS, CONFIG_MAPS, EVENTS, LEASES -> false;
        };
    }

    /** As messages of a server name it: with its group, if it has one. */
    String qualified() {
        return group().isEmpty() ? plural : plural + "." + group();
    }
}
