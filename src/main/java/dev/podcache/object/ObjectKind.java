package dev.podcache.object;

import com.google.common.base.Splitter;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A kind of API object: its model class, its name and its place in URLs. Immutable.
 *
 * <p>There is a constant for each kind that Podcache itself reads or writes. {@link #of(Class)} makes any other kind that
 * has a fabric8 model, custom resources included; {@link #of(String, String, String, boolean)} makes one without a model.
 * Two kinds are equal when their apiVersion and their plural are.
 *
 * @param <T> the model class
 */
public final class ObjectKind<T extends HasMetadata> {

    public static final ObjectKind<Secret> SECRET =
            builtIn(Secret.class, "Secret", "v1", true, secret -> Boolean.TRUE.equals(secret.getImmutable()));
    public static final ObjectKind<ConfigMap> CONFIG_MAP =
            builtIn(ConfigMap.class, "ConfigMap", "v1", true, map -> Boolean.TRUE.equals(map.getImmutable()));
    public static final ObjectKind<Pod> POD = builtIn(Pod.class, "Pod", "v1", true, pod -> false);
    public static final ObjectKind<Node> NODE = builtIn(Node.class, "Node", "v1", false, node -> false);
    public static final ObjectKind<Service> SERVICE = builtIn(Service.class, "Service", "v1", true, service -> false);
    public static final ObjectKind<Event> EVENT = builtIn(Event.class, "Event", "v1", true, event -> false);
    public static final ObjectKind<Lease> LEASE =
            builtIn(Lease.class, "Lease", "coordination.k8s.io/v1", true, lease -> false);

    private static final Pattern KIND = Pattern.compile("[A-Z][A-Za-z0-9]*");
    private static final List<ObjectKind<?>> BUILT_IN = List.of(SECRET, CONFIG_MAP, POD, NODE, SERVICE, EVENT, LEASE);

    private final Class<T> model;
    private final String name;
    private final String apiVersion;
    private final String plural;
    private final boolean namespaced;
    private final Predicate<T> immutable;

    private ObjectKind(
            Class<T> model, String name, String apiVersion, String plural, boolean namespaced, Predicate<T> immutable) {
        this.model = model;
        this.name = name;
        this.apiVersion = apiVersion;
        this.plural = plural;
        this.namespaced = namespaced;
        this.immutable = immutable;
    }

    private static <T extends HasMetadata> ObjectKind<T> builtIn(
            Class<T> model, String name, String apiVersion, boolean namespaced, Predicate<T> immutable) {
        String plural = name.toLowerCase(Locale.ROOT) + "s";
        return new ObjectKind<>(model, name, apiVersion, plural, namespaced, immutable);
    }

    /**
     * Returns the kind of a fabric8 model class. For a class of a custom resource, the annotations {@code @Group}, {@code
     * @Version}, {@code @Kind} and {@code @Plural} and the interface {@code Namespaced} say what it is.
     *
     * @throws IllegalArgumentException if the class does not say its version, as {@code GenericKubernetesResource} does
     *     not
     */
    @SuppressWarnings("unchecked") // the model class is compared
    public static <T extends HasMetadata> ObjectKind<T> of(Class<T> model) {
        for (ObjectKind<?> known : BUILT_IN) {
            if (known.model == Objects.requireNonNull(model, "model")) {
                return (ObjectKind<T>) known;
            }
        }
        @Nullable String apiVersion = HasMetadata.getApiVersion(model);
        if (apiVersion == null) {
            throw new IllegalArgumentException(model.getName()
                    + " does not say its apiVersion: annotate it with @Group and @Version, or name the kind with"
                    + " ObjectKind.of(apiVersion, kind, plural, namespaced)");
        }
        return new ObjectKind<>(
                model,
                HasMetadata.getKind(model),
                apiVersion,
                HasMetadata.getPlural(model),
                Namespaced.class.isAssignableFrom(model),
                object -> false);
    }

    /**
     * Returns a kind without a model class of its own.
     *
     * @param apiVersion such as {@code example.dev/v1}, or {@code v1} for the core group
     * @param kind as manifests write it, such as {@code Widget}
     * @param plural as URLs write it, such as {@code widgets}
     * @param namespaced whether its objects are in namespaces
     * @throws IllegalArgumentException if one of the names is empty or cannot be a part of a URL
     */
    public static ObjectKind<GenericKubernetesResource> of(
            String apiVersion, String kind, String plural, boolean namespaced) {
        Names.requireSubdomain("plural", plural);
        List<String> parts = Splitter.on('/').splitToList(apiVersion);
        if (parts.size() > 2) {
            throw new IllegalArgumentException(
                    "apiVersion " + Quoted.value(apiVersion) + " must be VERSION or GROUP/VERSION");
        }
        parts.forEach(part -> Names.requireSubdomain("apiVersion", part));
        if (!KIND.matcher(kind).matches()) {
            throw new IllegalArgumentException(
                    "kind " + Quoted.value(kind) + " must be letters and digits, such as Widget");
        }
        return new ObjectKind<>(GenericKubernetesResource.class, kind, apiVersion, plural, namespaced, object -> false);
    }

    public Class<T> model() {
        return model;
    }

    /** Returns the kind as in manifests, such as {@code ConfigMap}. */
    public String name() {
        return name;
    }

    /** Returns the group and version as in manifests, such as {@code apps/v1}, or {@code v1} for the core group. */
    public String apiVersion() {
        return apiVersion;
    }

    /** Returns the resource as in URLs and RBAC rules, such as {@code configmaps}. */
    public String plural() {
        return plural;
    }

    public boolean namespaced() {
        return namespaced;
    }

    /** Returns whether the object is marked {@code immutable: true}, so its content never changes. */
    public boolean isImmutable(T object) {
        return immutable.test(object);
    }

    /**
     * Returns a validated key of an object of this kind. Names of cluster-scoped objects, except Nodes, may be several legal names
     * joined by colons, such as {@code system:basic-user}.
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
        if (equals(NODE)) {
            return ObjectKey.validatedClusterScoped(name);
        }
        Names.requireSubdomains("name", name);
        return ObjectKey.of("", name);
    }

    /** Returns whether {@link #validatedKey} would accept this key. */
    public boolean isLegal(ObjectKey key) {
        return namespaced
                ? key.isLegal()
                : key.namespace().isEmpty()
                        && (equals(NODE) ? Names.isSubdomain(key.name()) : Names.isSubdomains(key.name()));
    }

    /** Returns whether {@code listKind} is the kind of a list of these objects. A definition may name its lists freely. */
    public boolean isListKind(@Nullable String listKind) {
        boolean known = BUILT_IN.contains(this);
        return listKind != null && (known ? listKind.equals(name + "List") : listKind.endsWith("List"));
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
        String root = apiVersion.indexOf('/') < 0 ? "/api/" : "/apis/";
        return root + apiVersion + "/" + (namespace.isEmpty() ? "" : "namespaces/" + namespace + "/") + plural();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof ObjectKind<?> that
                        && plural.equals(that.plural)
                        && apiVersion.equals(that.apiVersion));
    }

    @Override
    public int hashCode() {
        return 31 * apiVersion.hashCode() + plural.hashCode();
    }

    /** Returns the {@link #name()}. */
    @Override
    public String toString() {
        return name;
    }
}
