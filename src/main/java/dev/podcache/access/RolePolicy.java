package dev.podcache.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ModelJson;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One policy of a {@link GrantPolicy}: a Role, the namespaces that have it, and the owners whose references it follows.
 * Immutable.
 *
 * @param name of the policy; the value of the label {@link #LABEL}
 * @param role the name of the Role
 * @param verbs what is granted on each name, a part of get, list and watch
 * @hidden
 */
@NotApi
public record RolePolicy(String name, String role, Namespaces namespaces, List<OwnerKind> owners, List<String> verbs) {

    /** The label of Roles that a policy keeps; its value is the name of the policy. */
    public static final String LABEL = "podcache.dev/policy";

    /** The namespaces that never have a Role of a policy. */
    public static final Set<String> NEVER = ImmutableSet.of("kube-system", "kube-public", "kube-node-lease");

    /** Returns the name of the policy that keeps a Role, as its label says it; "" without the label. */
    public static String keeperOf(Role role) {
        Map<String, String> labels = role.getMetadata().getLabels();
        return labels == null ? "" : labels.getOrDefault(LABEL, "");
    }

    public RolePolicy {
        owners = List.copyOf(owners);
        verbs = List.copyOf(verbs);
    }

    /**
     * The namespaces of a policy: those of a list, or those whose labels match.
     *
     * @param names empty if labels select
     * @param selector null if names select
     * @hidden
     */
    public record Namespaces(Set<String> names, @Nullable Predicate<Map<String, String>> selector) {

        public Namespaces {
            names = ImmutableSet.copyOf(names);
        }

        /** Returns whether a namespace with these labels is selected. */
        public boolean selects(String namespace, Map<String, String> labels) {
            return !NEVER.contains(namespace) && (selector == null ? names.contains(namespace) : selector.test(labels));
        }
    }

    /**
     * A kind of owners and the fields that refer to objects.
     *
     * @param references empty for pods, whose fields are built in
     * @param onBehalfOf the field with the name of a ServiceAccount in the owner's namespace; null if nobody is asked
     * @param where the file and the line, for messages
     * @hidden
     */
    public record OwnerKind(
            ObjectKind<?> kind,
            List<ReferenceField> references,
            @Nullable FieldPath onBehalfOf,
            String where) {

        public OwnerKind {
            references = List.copyOf(references);
        }

        /** Returns the kinds of objects that an owner of this kind can refer to. */
        public Set<ObjectKind<?>> referencedKinds() {
            if (isPod()) {
                return ImmutableSet.of(ObjectKind.SECRET, ObjectKind.CONFIG_MAP);
            }
            return references.stream().<ObjectKind<?>>map(ReferenceField::kind).collect(ImmutableSet.toImmutableSet());
        }

        boolean isPod() {
            return kind.equals(ObjectKind.POD);
        }
    }

    /**
     * A field of an owner that names objects of a kind.
     *
     * @hidden
     */
    public record ReferenceField(ObjectKind<?> kind, FieldPath path) {}

    /**
     * An owner as far as it matters here.
     *
     * @param references the objects that it names, all in its namespace, in the order of its fields
     * @param illegal how many names it has that no object can have
     * @param account the ServiceAccount for which it refers; empty if its field has no legal name; null if the policy asks nobody
     * @hidden
     */
    public record GrantOwner(
            ObjectKind<?> kind,
            ObjectKey key,
            String uid,
            String created,
            Set<ObjectRef> references,
            int illegal,
            @Nullable String account) {

        public GrantOwner {
            references = ImmutableSet.copyOf(references);
        }

        /** Returns kind, namespace and name. */
        @Override
        public String toString() {
            return kind + " " + key;
        }
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Returns the kinds whose objects the Role can name, in a fixed order. */
    public List<ObjectKind<?>> grantedKinds() {
        Set<ObjectKind<?>> kinds = new LinkedHashSet<>();
        owners.forEach(owner -> kinds.addAll(owner.referencedKinds()));
        return ImmutableList.copyOf(kinds);
    }

    /** Returns whether a kind of owners refers on behalf of somebody, so that accesses are reviewed. */
    public boolean reviews() {
        return owners.stream().anyMatch(owner -> owner.onBehalfOf() != null);
    }

    /** Returns this policy with other kinds, because a server has said their plurals. */
    public RolePolicy withKinds(UnaryOperator<ObjectKind<?>> known) {
        return new RolePolicy(
                name,
                role,
                namespaces,
                owners.stream()
                        .map(owner -> new OwnerKind(
                                known.apply(owner.kind()),
                                owner.references().stream()
                                        .map(field -> new ReferenceField(known.apply(field.kind()), field.path()))
                                        .toList(),
                                owner.onBehalfOf(),
                                owner.where()))
                        .toList(),
                verbs);
    }

    /**
     * Returns what an object of a kind of owners refers to; empty if it does not count: it is a pod that has ended.
     *
     * @param object as the server returned it
     */
    public static Optional<GrantOwner> owner(OwnerKind kind, HasMetadata object) {
        ObjectMeta metadata = object.getMetadata();
        String namespace = Objects.requireNonNullElse(metadata.getNamespace(), "");
        if (object instanceof Pod pod && PodEnd.isTerminal(pod)) {
            return Optional.empty();
        }
        Set<ObjectRef> named = new LinkedHashSet<>();
        if (object instanceof Pod pod) {
            if (pod.getSpec() != null) {
                PodReferences.forEach(
                        pod,
                        (key, usage) -> named.add(ObjectRef.of(ObjectKind.SECRET, key)),
                        (key, usage) -> named.add(ObjectRef.of(ObjectKind.CONFIG_MAP, key)));
            }
        }
        Map<String, ?> fields = kind.isPod() && kind.onBehalfOf() == null ? Map.of() : fields(object);
        for (ReferenceField field : kind.references()) {
            field.path().texts(fields).forEach(text -> named.add(ObjectRef.of(field.kind(), namespace, text)));
        }
        List<ObjectRef> legal = new ArrayList<>();
        named.stream().filter(ref -> ref.kind().isLegal(ref.key())).forEach(legal::add);
        String account = null;
        if (kind.onBehalfOf() != null) {
            String given = kind.onBehalfOf().texts(fields).stream().findFirst().orElse("");
            account = ObjectKey.of(namespace, given).isLegal() ? given : "";
        }
        return Optional.of(new GrantOwner(
                kind.kind(),
                ObjectKey.of(namespace, metadata.getName()),
                Objects.requireNonNullElse(metadata.getUid(), ""),
                Objects.requireNonNullElse(metadata.getCreationTimestamp(), ""),
                ImmutableSet.copyOf(legal),
                named.size() - legal.size(),
                account));
    }

    private static Map<String, ?> fields(HasMetadata object) {
        if (!(object instanceof GenericKubernetesResource generic)) {
            return values(object);
        }
        Map<String, Object> fields = new LinkedHashMap<>(generic.getAdditionalProperties());
        fields.put("metadata", values(generic.getMetadata()));
        return fields;
    }

    private static Map<String, Object> values(Object model) {
        try {
            return JSON.readValue(ModelJson.text(model), new TypeReference<Map<String, Object>>() {});
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not an object in JSON: a " + model.getClass(), e);
        }
    }

    /** Returns the policy and its Role. */
    @Override
    public String toString() {
        return "policy " + Quoted.value(name) + " of Role " + Quoted.value(role);
    }
}
