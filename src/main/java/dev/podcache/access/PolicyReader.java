package dev.podcache.access;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import dev.podcache.yaml.YamlNode.Sequence;
import dev.podcache.yaml.YamlReader;
import io.fabric8.kubernetes.api.Pluralize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Reads the documents of a file as policies. Refuses everything that is not exactly a policy, because a field that is
 * ignored grants too much or too little. Each message names file, line and field. Confined to the caller's thread.
 */
final class PolicyReader {

    static final String API_VERSION = "podcache.dev/v1alpha1";
    static final String KIND = "GrantPolicy";

    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(4 << 20, 200_000);
    private static final List<String> VERBS = List.of("get", "list", "watch");
    private static final Pattern LABEL_PART = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");

    /** Kinds of Kubernetes without a namespace. A server says it of all others. */
    private static final Set<String> CLUSTER_SCOPED = ImmutableSet.of(
            "v1 ComponentStatus",
            "v1 Namespace",
            "v1 Node",
            "v1 PersistentVolume",
            "admissionregistration.k8s.io MutatingWebhookConfiguration",
            "admissionregistration.k8s.io ValidatingAdmissionPolicy",
            "admissionregistration.k8s.io ValidatingAdmissionPolicyBinding",
            "admissionregistration.k8s.io ValidatingWebhookConfiguration",
            "apiextensions.k8s.io CustomResourceDefinition",
            "apiregistration.k8s.io APIService",
            "certificates.k8s.io CertificateSigningRequest",
            "certificates.k8s.io ClusterTrustBundle",
            "flowcontrol.apiserver.k8s.io FlowSchema",
            "flowcontrol.apiserver.k8s.io PriorityLevelConfiguration",
            "networking.k8s.io IngressClass",
            "networking.k8s.io IPAddress",
            "networking.k8s.io ServiceCIDR",
            "node.k8s.io RuntimeClass",
            "policy PodSecurityPolicy",
            "rbac.authorization.k8s.io ClusterRole",
            "rbac.authorization.k8s.io ClusterRoleBinding",
            "resource.k8s.io DeviceClass",
            "resource.k8s.io ResourceSlice",
            "scheduling.k8s.io PriorityClass",
            "storage.k8s.io CSIDriver",
            "storage.k8s.io CSINode",
            "storage.k8s.io StorageClass",
            "storage.k8s.io VolumeAttachment",
            "storage.k8s.io VolumeAttributesClass");

    private final String file;

    private PolicyReader(String file) {
        this.file = file;
    }

    /** A value of a field, and the path of the field. */
    private record At(YamlNode node, String path) {

        At field(String name, YamlNode value) {
            return new At(value, path.isEmpty() ? name : path + "." + name);
        }

        At element(int index, YamlNode value) {
            return new At(value, path + "[" + index + "]");
        }
    }

    /**
     * Returns the policies of a file, in their order.
     *
     * @throws IllegalArgumentException as {@link GrantPolicy#read} says
     */
    static List<RolePolicy> read(Path file) {
        PolicyReader reader = new PolicyReader(file.toString());
        return reader.policies(reader.content(file));
    }

    private byte[] content(Path path) {
        try {
            if (Files.isDirectory(path)) {
                throw refusal("is a directory: give the path of a file with policies");
            }
            try (InputStream in = Files.newInputStream(path)) {
                return in.readNBytes(LIMITS.bytes() + 1);
            }
        } catch (NoSuchFileException e) {
            throw refusal("does not exist: give the path of a file with policies");
        } catch (IOException e) {
            throw refusal("cannot be read (" + e.getClass().getSimpleName() + "): give the path of a readable file");
        }
    }

    private List<RolePolicy> policies(byte[] content) {
        List<YamlNode> documents;
        try {
            documents = YamlReader.read(content, LIMITS);
        } catch (YamlException e) {
            throw refusal(String.valueOf(e.getMessage()));
        }
        List<RolePolicy> policies = new ArrayList<>();
        Map<String, Integer> roles = new TreeMap<>();
        Map<String, Integer> names = new TreeMap<>();
        for (YamlNode document : documents) {
            if (document instanceof Scalar scalar && scalar.isNull()) {
                continue;
            }
            RolePolicy policy = policy(new At(document, ""));
            requireFirst(roles, policy.role(), document, "spec.role", "Role");
            requireFirst(names, policy.name(), document, "metadata.name", "name");
            policies.add(policy);
        }
        if (policies.isEmpty()) {
            throw refusal("has no policy: write a document with apiVersion: " + API_VERSION + " and kind: " + KIND);
        }
        return policies;
    }

    private void requireFirst(Map<String, Integer> seen, String value, YamlNode document, String field, String what) {
        Integer before = seen.put(value, document.line());
        if (before != null) {
            throw refusal("line " + document.line() + ": " + field + ": the policy at line " + before + " has the "
                    + what + " " + Quoted.value(value) + " already: give each policy its own");
        }
    }

    private RolePolicy policy(At document) {
        Map<String, At> fields = fields(document, "apiVersion", "kind", "metadata", "spec");
        requireText(fields, document, "apiVersion", API_VERSION);
        requireText(fields, document, "kind", KIND);
        At metadata = required(fields, document, "metadata");
        Map<String, At> named = fields(metadata, "name", "labels", "annotations");
        At spec = required(fields, document, "spec");
        Map<String, At> parts = fields(spec, "role", "namespaces", "verbs", "owners");
        At name = required(named, metadata, "name");
        At role = required(parts, spec, "role");
        return new RolePolicy(
                label(name),
                roleName(role),
                namespaces(required(parts, spec, "namespaces")),
                owners(required(parts, spec, "owners")),
                parts.containsKey("verbs") ? verbs(required(parts, spec, "verbs")) : VERBS);
    }

    private String roleName(At at) {
        String name = objectName(at);
        if (name.startsWith(ControllerRights.CONTROLLER)) {
            throw refusal(
                    at,
                    "is " + Quoted.value(name) + ", which begins as the controller's own Roles do:"
                            + " choose another name, or the operator would get the rights of the controller");
        }
        return name;
    }

    private void requireText(Map<String, At> fields, At parent, String field, String expected) {
        At at = required(fields, parent, field);
        if (!expected.equals(text(at))) {
            throw refusal(at, "is " + Quoted.value(text(at)) + ": write " + expected);
        }
    }

    // namespaces

    private RolePolicy.Namespaces namespaces(At at) {
        if (at.node() instanceof Sequence) {
            Set<String> names = new LinkedHashSet<>();
            for (At element : elements(at)) {
                String name = label(element);
                if (RolePolicy.NEVER.contains(name)) {
                    throw refusal(element, "is " + name + ", which never has such a Role: leave it out");
                }
                if (!names.add(name)) {
                    throw refusal(element, "is " + Quoted.value(name) + " a second time: leave one out");
                }
            }
            return new RolePolicy.Namespaces(names, null);
        }
        if (!(at.node() instanceof Mapping)) {
            throw refusal(at, "is neither a list of names nor a selector: write [shop, blog] or {matchLabels: {a: b}}");
        }
        Map<String, At> fields = fields(at, "matchLabels", "matchExpressions");
        List<Predicate<Map<String, String>>> terms = new ArrayList<>();
        At labels = fields.get("matchLabels");
        if (labels != null) {
            mapping(labels).fields().forEach((key, value) -> {
                At term = labels.field(key, value);
                String text = labelValue(term);
                requireLabelKey(term, key);
                terms.add(found -> text.equals(found.get(key)));
            });
        }
        At expressions = fields.get("matchExpressions");
        if (expressions != null) {
            elementsOrNone(expressions).forEach(expression -> terms.add(expression(expression)));
        }
        return new RolePolicy.Namespaces(Set.of(), found -> terms.stream().allMatch(term -> term.test(found)));
    }

    private Predicate<Map<String, String>> expression(At at) {
        Map<String, At> fields = fields(at, "key", "operator", "values");
        At keyField = required(fields, at, "key");
        String key = text(keyField);
        requireLabelKey(keyField, key);
        At operator = required(fields, at, "operator");
        At valuesField = fields.get("values");
        Set<String> values = new LinkedHashSet<>();
        if (valuesField != null) {
            elementsOrNone(valuesField).forEach(value -> values.add(labelValue(value)));
        }
        String word = text(operator);
        boolean takesValues = word.equals("In") || word.equals("NotIn");
        if (!takesValues && !word.equals("Exists") && !word.equals("DoesNotExist")) {
            throw refusal(operator, "is " + Quoted.value(word) + ": write In, NotIn, Exists or DoesNotExist");
        }
        if (takesValues == values.isEmpty()) {
            throw refusal(
                    valuesField == null ? at : valuesField,
                    takesValues
                            ? "needs values for " + word + ": list them"
                            : "must be empty for " + word + ": leave values out");
        }
        return switch (word) {
            case "In" -> found -> found.containsKey(key) && values.contains(found.get(key));
            case "NotIn" -> found -> !found.containsKey(key) || !values.contains(found.get(key));
            case "Exists" -> found -> found.containsKey(key);
            default -> found -> !found.containsKey(key);
        };
    }

    private String labelValue(At at) {
        String value = text(at);
        if (!value.isEmpty() && !LABEL_PART.matcher(value).matches()) {
            throw refusal(
                    at,
                    "is " + Quoted.value(value) + ", which is no value of a label: at most 63 letters, digits,"
                            + " '-', '_' and '.', beginning and ending with a letter or digit");
        }
        return value;
    }

    private void requireLabelKey(At at, String key) {
        int slash = key.indexOf('/');
        boolean legal = LABEL_PART.matcher(key.substring(slash + 1)).matches()
                && (slash < 0
                        || ObjectKey.of("default", key.substring(0, slash)).isLegal());
        if (!legal) {
            throw refusal(
                    at,
                    "has the key " + Quoted.value(key) + ", which is no key of a label: write it as name or"
                            + " prefix.example/name");
        }
    }

    // owners

    private List<RolePolicy.OwnerKind> owners(At at) {
        List<RolePolicy.OwnerKind> owners = new ArrayList<>();
        for (At element : elements(at)) {
            RolePolicy.OwnerKind owner = owner(element);
            if (owners.stream().anyMatch(before -> before.kind().equals(owner.kind()))) {
                throw refusal(
                        element,
                        "is " + owner.kind().apiVersion() + " " + owner.kind()
                                + " a second time: put all its references into one entry");
            }
            owners.add(owner);
        }
        return owners;
    }

    private RolePolicy.OwnerKind owner(At at) {
        Map<String, At> fields = fields(at, "apiVersion", "kind", "onBehalfOf", "references");
        At kindField = required(fields, at, "kind");
        ObjectKind<?> kind = kind(required(fields, at, "apiVersion"), kindField);
        At references = fields.get("references");
        boolean pod = kind.equals(ObjectKind.POD);
        if (pod && references != null) {
            throw refusal(references, "is given for pods, whose references are built in: leave it out");
        }
        if (!pod && references == null) {
            throw refusal(
                    at,
                    "has no references: list the fields that name objects, such as"
                            + " {kind: Secret, path: .spec.tls.secretName}");
        }
        At behalf = fields.get("onBehalfOf");
        FieldPath account = null;
        if (behalf != null) {
            Map<String, At> subject = fields(behalf, "serviceAccount");
            account = path(required(subject, behalf, "serviceAccount"));
        }
        List<RolePolicy.ReferenceField> named = new ArrayList<>();
        if (references != null) {
            elements(references).forEach(reference -> named.add(reference(reference)));
        }
        return new RolePolicy.OwnerKind(
                kind, named, account, file + ", line " + kindField.node().line() + ": " + kindField.path());
    }

    private RolePolicy.ReferenceField reference(At at) {
        Map<String, At> fields = fields(at, "apiVersion", "kind", "path");
        At kindField = required(fields, at, "kind");
        At version = fields.get("apiVersion");
        String name = text(kindField);
        ObjectKind<?> kind;
        if (version != null) {
            kind = kind(version, kindField);
        } else if (name.equals("Secret")) {
            kind = ObjectKind.SECRET;
        } else if (name.equals("ConfigMap")) {
            kind = ObjectKind.CONFIG_MAP;
        } else {
            throw refusal(
                    kindField,
                    "is " + Quoted.value(name)
                            + ", which cannot be granted without its apiVersion: write Secret or ConfigMap, or add apiVersion");
        }
        return new RolePolicy.ReferenceField(kind, path(required(fields, at, "path")));
    }

    private ObjectKind<?> kind(At version, At kindField) {
        String apiVersion = text(version);
        String name = text(kindField);
        ObjectKind<?> kind;
        try {
            kind = ObjectKind.of(apiVersion, name, Pluralize.toPlural(name.toLowerCase(Locale.ROOT)), true);
        } catch (IllegalArgumentException e) {
            String why = String.valueOf(e.getMessage());
            throw refusal(why.startsWith("apiVersion") ? version : kindField, "cannot be a kind: " + why);
        }
        String group = apiVersion.contains("/") ? apiVersion.substring(0, apiVersion.indexOf('/')) : apiVersion;
        if (CLUSTER_SCOPED.contains(group + " " + name)) {
            throw refusal(
                    kindField,
                    "is " + name + ", which has no namespace: a Role grants only in the namespace of the"
                            + " owner; name a kind that has one");
        }
        for (ObjectKind<?> known : List.of(ObjectKind.SECRET, ObjectKind.CONFIG_MAP, ObjectKind.POD)) {
            if (known.equals(kind)) {
                return known;
            }
        }
        return kind;
    }

    private FieldPath path(At at) {
        try {
            return FieldPath.parse(text(at));
        } catch (IllegalArgumentException e) {
            throw refusal(at, String.valueOf(e.getMessage()));
        }
    }

    private List<String> verbs(At at) {
        Set<String> verbs = new LinkedHashSet<>();
        for (At element : elements(at)) {
            String verb = text(element);
            if (!VERBS.contains(verb)) {
                throw refusal(
                        element,
                        "is " + Quoted.value(verb) + ": write get, list or watch, because a Role of a"
                                + " policy only lets read");
            }
            verbs.add(verb);
        }
        return VERBS.stream().filter(verbs::contains).toList();
    }

    // values

    private String label(At at) {
        String name = text(at);
        try {
            return ObjectKey.validated(name, "x").namespace();
        } catch (IllegalArgumentException e) {
            throw refusal(
                    at,
                    "is " + Quoted.value(name) + ", which is not a legal Kubernetes name here: at most 63"
                            + " lower-case letters, digits and '-', beginning and ending with a letter or digit");
        }
    }

    private String objectName(At at) {
        try {
            return ObjectKey.validated("default", text(at)).name();
        } catch (IllegalArgumentException e) {
            throw refusal(at, String.valueOf(e.getMessage()));
        }
    }

    private String text(At at) {
        if (at.node() instanceof Scalar scalar && scalar.content() instanceof String text) {
            return text;
        }
        throw refusal(at, "is no text: write text, in quotation marks if it could be a number or a truth value");
    }

    private List<At> elements(At at) {
        List<At> elements = elementsOrNone(at);
        if (elements.isEmpty()) {
            throw refusal(at, "is empty: list at least one");
        }
        return elements;
    }

    private List<At> elementsOrNone(At at) {
        if (!(at.node() instanceof Sequence sequence)) {
            throw refusal(at, "is no list: write a list");
        }
        List<At> elements = new ArrayList<>();
        for (YamlNode element : sequence.elements()) {
            elements.add(at.element(elements.size(), element));
        }
        return elements;
    }

    private Mapping mapping(At at) {
        if (at.node() instanceof Mapping mapping) {
            mapping.repeated().forEach((name, second) -> {
                throw refusal("line " + second.line() + ": "
                        + at.field(name, second).path() + " is written a second time: leave one out");
            });
            return mapping;
        }
        throw refusal(at, "is no map of fields: write a map");
    }

    /** Returns the fields. One without a value is refused: left out, it may grant more than what was meant to be written. */
    private Map<String, At> fields(At at, String... known) {
        Mapping mapping = mapping(at);
        Map<String, At> fields = new TreeMap<>();
        mapping.fields().forEach((name, value) -> {
            At field = at.field(name, value);
            if (!List.of(known).contains(name)) {
                throw refusal("line " + value.line() + ": " + (at.path().isEmpty() ? "" : at.path() + ".")
                        + Quoted.text(name) + " is no field of a policy: the fields here are "
                        + String.join(", ", known));
            }
            if (value instanceof Scalar scalar && scalar.isNull()) {
                throw refusal(field, "has no value: write one, or leave the field out");
            }
            fields.put(name, field);
        });
        return fields;
    }

    private At required(Map<String, At> fields, At parent, String name) {
        At field = fields.get(name);
        if (field == null) {
            throw refusal("line " + parent.node().line() + ": "
                    + (parent.path().isEmpty() ? name : parent.path() + "." + name) + " is missing: write it");
        }
        return field;
    }

    private IllegalArgumentException refusal(At at, String why) {
        return refusal("line " + at.node().line() + ": " + at.path() + " " + why);
    }

    private IllegalArgumentException refusal(String why) {
        return new IllegalArgumentException("policy " + Quoted.text(file) + ", " + why);
    }
}
