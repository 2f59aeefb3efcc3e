package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A resource of an API server. The constants are those that every {@link InMemoryCluster} serves;
 * {@link InMemoryCluster#serve} adds others. Two resources are equal when their kinds are. Immutable.
 */
public final class Resource {

    public static final Resource NODES = builtIn(ObjectKind.NODE, "no", true);
    public static final Resource NAMESPACES = builtIn(ObjectKind.of(Namespace.class), "ns", true);
    public static final Resource PODS = builtIn(ObjectKind.POD, "po", true);
    public static final Resource SECRETS = builtIn(ObjectKind.SECRET, "", false);
    public static final Resource CONFIG_MAPS = builtIn(ObjectKind.CONFIG_MAP, "cm", false);
    public static final Resource SERVICES = builtIn(ObjectKind.SERVICE, "svc", true);
    public static final Resource EVENTS = builtIn(ObjectKind.EVENT, "ev", false);
    public static final Resource SERVICE_ACCOUNTS = builtIn(ObjectKind.of(ServiceAccount.class), "sa", false);
    public static final Resource LEASES = builtIn(ObjectKind.LEASE, "", false);
    public static final Resource ROLES = access("Role", "roles", true);
    public static final Resource ROLE_BINDINGS = access("RoleBinding", "rolebindings", true);
    public static final Resource CLUSTER_ROLES = access("ClusterRole", "clusterroles", false);
    public static final Resource CLUSTER_ROLE_BINDINGS = access("ClusterRoleBinding", "clusterrolebindings", false);
    public static final Resource SUBJECT_ACCESS_REVIEWS = review("SubjectAccessReview", false);
    public static final Resource SELF_SUBJECT_ACCESS_REVIEWS = review("SelfSubjectAccessReview", false);
    public static final Resource LOCAL_SUBJECT_ACCESS_REVIEWS = review("LocalSubjectAccessReview", true);
    public static final Resource SELF_SUBJECT_RULES_REVIEWS = review("SelfSubjectRulesReview", false);
    public static final Resource TOKEN_REVIEWS = authentication("TokenReview");
    public static final Resource SELF_SUBJECT_REVIEWS = authentication("SelfSubjectReview");

    static final ImmutableList<Resource> BUILT_IN = ImmutableList.of(
            NODES,
            NAMESPACES,
            PODS,
            SECRETS,
            CONFIG_MAPS,
            SERVICES,
            EVENTS,
            SERVICE_ACCOUNTS,
            LEASES,
            ROLES,
            ROLE_BINDINGS,
            CLUSTER_ROLES,
            CLUSTER_ROLE_BINDINGS,
            SUBJECT_ACCESS_REVIEWS,
            SELF_SUBJECT_ACCESS_REVIEWS,
            LOCAL_SUBJECT_ACCESS_REVIEWS,
            SELF_SUBJECT_RULES_REVIEWS,
            TOKEN_REVIEWS,
            SELF_SUBJECT_REVIEWS);

    static final String RBAC = "rbac.authorization.k8s.io";
    static final String AUTHORIZATION = "authorization.k8s.io";
    static final String AUTHENTICATION = "authentication.k8s.io";

    /** The groups whose kinds a kube-apiserver has in its code. Kinds of all others are custom resources. */
    private static final ImmutableSet<String> GROUPS_OF_KUBERNETES = ImmutableSet.of(
            "",
            "admissionregistration.k8s.io",
            "apiextensions.k8s.io",
            "apiregistration.k8s.io",
            "apps",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "autoscaling",
            "batch",
            "certificates.k8s.io",
            "coordination.k8s.io",
            "discovery.k8s.io",
            "events.k8s.io",
            "extensions",
            "flowcontrol.apiserver.k8s.io",
            "internal.apiserver.k8s.io",
            "networking.k8s.io",
            "node.k8s.io",
            "policy",
            "rbac.authorization.k8s.io",
            "resource.k8s.io",
            "scheduling.k8s.io",
            "storage.k8s.io",
            "storagemigration.k8s.io");

    private final ObjectKind<?> kind;
    private final String group;
    private final String shortName;
    private final boolean status;

    private Resource(ObjectKind<?> kind, String shortName, boolean status) {
        int slash = kind.apiVersion().indexOf('/');
        this.kind = kind;
        this.group = slash < 0 ? "" : kind.apiVersion().substring(0, slash);
        this.shortName = shortName;
        this.status = status;
    }

    private static Resource builtIn(ObjectKind<?> kind, String shortName, boolean status) {
        return new Resource(kind, shortName, status);
    }

    private static Resource access(String kind, String plural, boolean namespaced) {
        return new Resource(ObjectKind.of("rbac.authorization.k8s.io/v1", kind, plural, namespaced), "", false);
    }

    private static Resource review(String kind, boolean namespaced) {
        return review(AUTHORIZATION, kind, namespaced);
    }

    private static Resource authentication(String kind) {
        return review(AUTHENTICATION, kind, false);
    }

    private static Resource review(String group, String kind, boolean namespaced) {
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        return new Resource(ObjectKind.of(group + "/v1", kind, plural, namespaced), "", false);
    }

    /**
     * Returns the resource whose objects have the class {@code model}. Every cluster serves it.
     *
     * @throws IllegalArgumentException if a cluster serves it only after {@link InMemoryCluster#serve}
     */
    public static Resource of(Class<? extends HasMetadata> model) {
        Resource resource = of(ObjectKind.of(model));
        if (!BUILT_IN.contains(resource)) {
            throw new IllegalArgumentException("the in-memory cluster does not store " + model.getName() + ", only "
                    + BUILT_IN + ": add it with serve(ObjectKind.of(" + model.getSimpleName() + ".class))");
        }
        return resource;
    }

    /**
     * Returns the resource of a kind, whether or not a cluster serves it. It has a status subresource if the model class
     * has a status; without a model class, it has one.
     */
    public static Resource of(ObjectKind<?> kind) {
        for (Resource known : BUILT_IN) {
            if (known.kind.equals(kind)) {
                return known;
            }
        }
        return new Resource(kind, "", hasStatus(kind.model()));
    }

    private static boolean hasStatus(Class<?> model) {
        return model == GenericKubernetesResource.class
                || Arrays.stream(model.getMethods())
                        .anyMatch(method -> method.getName().equals("getStatus"));
    }

    /** Returns the kind of the objects: its model class, names and place in URLs. */
    ObjectKind<?> objectKind() {
        return kind;
    }

    /**
     * Returns the class by which objects are checked: the fabric8 class, or {@code GenericKubernetesResource} for a custom
     * resource, whose class may have fields that only its own mapper can read.
     */
    public Class<? extends HasMetadata> model() {
        return isCustom() ? GenericKubernetesResource.class : kind.model();
    }

    /** Returns the plural name in URLs, such as {@code configmaps}. */
    public String plural() {
        return kind.plural();
    }

    /** Returns the short name in kubectl, such as {@code cm}; empty if there is none. */
    String shortName() {
        return shortName;
    }

    /** Returns the kind in manifests, such as {@code ConfigMap}. */
    public String kind() {
        return kind.name();
    }

    /** Returns the API group; empty for the core group. */
    public String group() {
        return group;
    }

    /** Returns the version without the group, such as {@code v1}. */
    String version() {
        return kind.apiVersion().substring(group.isEmpty() ? 0 : group.length() + 1);
    }

    /** Returns the API version in manifests, such as {@code v1} or {@code coordination.k8s.io/v1}. */
    public String apiVersion() {
        return kind.apiVersion();
    }

    /** Returns whether the objects have a namespace. */
    public boolean namespaced() {
        return kind.namespaced();
    }

    /** Returns whether the resource has a status subresource. */
    boolean hasStatus() {
        return status;
    }

    /** Returns whether the resource is a custom resource: its group is none of Kubernetes itself. */
    boolean isCustom() {
        return !GROUPS_OF_KUBERNETES.contains(group);
    }

    /** Returns whether the objects are Roles, ClusterRoles or bindings. */
    boolean isAccess() {
        return group.equals(RBAC);
    }

    /** Returns whether a name may be any part of a URL: those of Roles, bindings and trust bundles have colons. */
    boolean hasFreeNames() {
        return isAccess() || (group.equals("certificates.k8s.io") && plural().equals("clustertrustbundles"));
    }

    /** Returns whether the resource answers each create request at once and stores nothing. */
    boolean isReview() {
        return group.equals(AUTHORIZATION) || group.equals(AUTHENTICATION);
    }

    /** Returns whether a change of the spec raises {@code metadata.generation}. */
    boolean hasGeneration() {
        return equals(PODS) || (status && !BUILT_IN.contains(this));
    }

    /** Returns whether an update must say which version of the object it changes. */
    boolean requiresVersionInUpdate() {
        return isCustom() || equals(LEASES) || equals(SERVICE_ACCOUNTS);
    }

    /** Returns whether one request can delete several objects. */
    boolean canDeleteCollection() {
        return !equals(NAMESPACES) && !equals(SERVICES);
    }

    /** Returns the name in messages of a kube-apiserver: the plural name, and the group unless it is the core group. */
    String qualified() {
        return group.isEmpty() ? plural() : plural() + "." + group;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Resource that && kind.equals(that.kind);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(kind);
    }

    /** Returns the name in messages, such as {@code secrets} or {@code leases.coordination.k8s.io}. */
    @Override
    public String toString() {
        return qualified();
    }
}
