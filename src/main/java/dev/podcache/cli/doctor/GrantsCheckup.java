package dev.podcache.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.access.Definitions;
import dev.podcache.access.GrantPolicy;
import dev.podcache.access.RightsOfTheirOwn;
import dev.podcache.access.RolePolicy;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.doctor.GrantDiagnoses.Binding;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Quoted;
import dev.podcache.object.Subject;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the owners, Roles and bindings of policies, and says what follows: the option {@code --grants}. Reads no Secret.
 * Used by one thread.
 */
final class GrantsCheckup {

    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    private static final int PAGE = 500;
    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Fabric8ApiServer server;
    private final GrantPolicy policy;
    private final List<Diagnosis> found = new ArrayList<>();
    private final Set<String> unlisted = new HashSet<>(); // policies with owners that cannot be listed
    private final Map<String, @Nullable Role> rolesByPath = new HashMap<>();
    private Consumer<CompletableFuture<?>> wait = future -> {};

    GrantsCheckup(Fabric8ApiServer server, GrantPolicy policy) {
        this.server = server;
        this.policy = policy;
    }

    /** Returns what was found: each owner, then Roles without a policy, then whether a broad Role may go. */
    List<Diagnosis> diagnoses() {
        return found;
    }

    /**
     * Asks one question after the other. Ends with a diagnosis if one is refused.
     *
     * @param waits waits until a request has ended, or throws if it must not wait any longer
     */
    void run(Consumer<CompletableFuture<?>> waits) {
        wait = waits;
        List<GrantDiagnoses> judged = new ArrayList<>();
        try {
            List<RolePolicy> policies = new ArrayList<>();
            Map<String, Map<String, String>> namespaces = namespaces();
            for (RolePolicy each : policy.roles()) {
                policies.add(withPlurals(each));
            }
            for (RolePolicy each : policies) {
                judged.add(judged(each, namespaces));
            }
            // after the last one: what one policy can do without, another may still need
            judged.forEach(each -> found.addAll(each.all(judged)));
            judged.clear();
            orphans(policies, namespaces);
        } catch (ApiServerException e) {
            // whether a broad Role may go is not said: a policy that was not judged may need it
            judged.forEach(each -> found.addAll(each.ofOwners()));
            found.add(
                    Diagnosis.problem(
                            "grants",
                            Quoted.text(String.valueOf(e.getMessage())),
                            "it is unknown what is granted",
                            "let these credentials list namespaces, the owners of the policies, Roles and bindings, and try again"));
        }
    }

    private RolePolicy withPlurals(RolePolicy policy) {
        Definitions definitions = new Definitions(path -> server.raw(path, TIMEOUT));
        Set<ObjectKind<?>> kinds = new HashSet<>(policy.grantedKinds());
        policy.owners().forEach(owner -> kinds.add(owner.kind()));
        List<Definitions.Definition> known =
                kinds.stream().map(kind -> joined(definitions.find(kind))).toList();
        known.stream()
                .filter(definition -> definition.state() == Definitions.KindState.ABSENT)
                .forEach(absent -> found.add(Diagnosis.note(
                        "grants",
                        "the server has no " + absent.kind().apiVersion() + " " + absent.kind(),
                        "policy " + policy.name() + " names it, and it has no owners",
                        "apply its CustomResourceDefinition, or take it out of the policy")));
        for (OwnerKind owner : policy.owners()) {
            known.stream()
                    .filter(definition ->
                            definition.kind().name().equals(owner.kind().name())
                                    && definition
                                            .kind()
                                            .apiVersion()
                                            .equals(owner.kind().apiVersion()))
                    .filter(definition -> definition.state() == Definitions.KindState.UNKNOWN
                            || definition.state() == Definitions.KindState.CLUSTER_SCOPED)
                    .forEach(definition -> {
                        unlisted.add(policy.name());
                        found.add(Diagnosis.problem(
                                "grants",
                                definition.state() == Definitions.KindState.UNKNOWN
                                        ? "the server does not serve " + owner.kind() + " of "
                                                + owner.kind().apiVersion()
                                        : owner.kind() + " of " + owner.kind().apiVersion() + " has no namespace",
                                "policy " + policy.name() + " names it, and its owners are not known",
                                "correct " + Quoted.text(owner.where())
                                        + ", or see which versions its definition serves"));
                    });
        }
        return policy.withKinds(kind -> Definitions.as(kind, known));
    }

    /** Returns the labels of each namespace. */
    private Map<String, Map<String, String>> namespaces() {
        Map<String, Map<String, String>> all = new HashMap<>();
        for (JsonNode namespace : list("/api/v1/namespaces")) {
            Map<String, String> labels = new HashMap<>();
            for (Map.Entry<String, JsonNode> label :
                    namespace.path("metadata").path("labels").properties()) {
                labels.put(label.getKey(), label.getValue().asText());
            }
            all.put(namespace.path("metadata").path("name").asText(), labels);
        }
        return all;
    }

    private GrantDiagnoses judged(RolePolicy policy, Map<String, Map<String, String>> namespaces) {
        GrantDiagnoses diagnoses = new GrantDiagnoses(policy, !unlisted.contains(policy.name()));
        List<Binding> everywhere = bindings("");
        List<String> selected = namespaces.entrySet().stream()
                .filter(namespace -> policy.namespaces().selects(namespace.getKey(), namespace.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        for (String namespace : selected) {
            List<GrantOwner> owners = new ArrayList<>();
            for (OwnerKind kind : policy.owners()) {
                owners.addAll(owners(kind, namespace));
            }
            List<Binding> bindings = new ArrayList<>(everywhere);
            bindings.addAll(bindings(namespace));
            diagnoses.add(namespace, owners, role(namespace, policy.role()), bindings, denied(owners));
        }
        return diagnoses;
    }

    private List<GrantOwner> owners(OwnerKind kind, String namespace) {
        String api = kind.kind().apiVersion();
        String path = (api.contains("/") ? "/apis/" : "/api/") + api + "/namespaces/" + namespace + "/"
                + kind.kind().plural();
        List<GrantOwner> owners = new ArrayList<>();
        Class<? extends HasMetadata> model =
                kind.kind().equals(ObjectKind.POD) ? Pod.class : GenericKubernetesResource.class;
        for (JsonNode item : listIfServed(path)) {
            RolePolicy.owner(kind, ModelJson.model(item, model)).ifPresent(owners::add);
        }
        return owners;
    }

    /** Returns the objects that are not granted because the ServiceAccount of an owner may not get them. */
    private Set<Map.Entry<GrantOwner, ObjectRef>> denied(List<GrantOwner> owners) {
        AccessReviews reviews = new RightsOfTheirOwn(server.unlimitedReviews(TIMEOUT), policy.roles());
        Set<Map.Entry<GrantOwner, ObjectRef>> denied = new HashSet<>();
        for (GrantOwner owner : owners) {
            String account = owner.account();
            if (account != null) {
                for (ObjectRef object : owner.references()) {
                    if (account.isEmpty()
                            || !joined(reviews.review(
                                            Subject.serviceAccount(owner.key().namespace(), account),
                                            ResourceAccess.of(object.kind(), object.key(), "get")))
                                    .allowed()) {
                        denied.add(Map.entry(owner, object));
                    }
                }
            }
        }
        return denied;
    }

    private @Nullable Role role(String namespace, String name) {
        return role(RBAC + "/namespaces/" + namespace + "/roles/" + name);
    }

    /** Returns a Role, or a ClusterRole read as one; null if there is none. */
    private @Nullable Role role(String path) {
        if (!rolesByPath.containsKey(path)) {
            Role role = null;
            try {
                role = ModelJson.model(get(path), Role.class);
            } catch (ApiServerException e) {
                if (e.reason() != FailureReason.NOT_FOUND) {
                    throw e;
                }
            }
            rolesByPath.put(path, role);
        }
        return rolesByPath.get(path);
    }

    /** Returns the RoleBindings of a namespace, or for "" the ClusterRoleBindings, with the rules that they give. */
    private List<Binding> bindings(String namespace) {
        boolean everywhere = namespace.isEmpty();
        List<Binding> bindings = new ArrayList<>();
        for (JsonNode item :
                list(RBAC + (everywhere ? "/clusterrolebindings" : "/namespaces/" + namespace + "/rolebindings"))) {
            Set<String> subjects = new LinkedHashSet<>();
            for (JsonNode subject : item.path("subjects")) {
                String kind = subject.path("kind").asText();
                String name = subject.path("name").asText();
                subjects.add(kind + " "
                        + (kind.equals("ServiceAccount")
                                ? subject.path("namespace").asText() + "/" + name
                                : name));
            }
            JsonNode ref = item.path("roleRef");
            String role = ref.path("name").asText();
            boolean ofCluster = ref.path("kind").asText().equals("ClusterRole");
            bindings.add(new Binding(
                    (everywhere ? "ClusterRoleBinding " : "RoleBinding " + namespace + "/")
                            + item.path("metadata").path("name").asText(),
                    ofCluster,
                    role,
                    subjects,
                    () -> GrantDiagnoses.rules(
                            ofCluster ? role(RBAC + "/clusterroles/" + encoded(role)) : role(namespace, role))));
        }
        return bindings;
    }

    /**
     * Finds the Roles that say that a policy keeps them, of which the file knows nothing. One without rules grants nothing: its
     * controller has emptied it, as when its namespace was taken out of the policy.
     */
    private void orphans(List<RolePolicy> policies, Map<String, Map<String, String>> namespaces) {
        Set<String> inFile = new HashSet<>();
        policies.forEach(policy -> inFile.add(policy.name()));
        int orphans = 0;
        for (JsonNode role : list(RBAC + "/roles?labelSelector=" + encoded(RolePolicy.LABEL))) {
            JsonNode metadata = role.path("metadata");
            String name = metadata.path("name").asText();
            String namespace = metadata.path("namespace").asText();
            String owner = metadata.path("labels").path(RolePolicy.LABEL).asText();
            boolean known = policies.stream()
                    .anyMatch(policy -> policy.name().equals(owner)
                            && policy.role().equals(name)
                            && policy.namespaces().selects(namespace, namespaces.getOrDefault(namespace, Map.of())));
            if (!known && !role.path("rules").isEmpty()) {
                orphans++;
                String grants = granted(role.path("rules"));
                found.add(GrantDiagnoses.orphan(namespace, name, owner, inFile.contains(owner), grants));
            }
        }
        if (orphans == 0) {
            found.add(Diagnosis.ok("grants", "no Role is left of a policy that is gone"));
        }
    }

    /** Returns what rules grant, in words. */
    private static String granted(JsonNode rules) {
        int names = 0;
        for (JsonNode rule : rules) {
            if (rule.path("resourceNames").isEmpty()) {
                return "more than names";
            }
            names += rule.path("resourceNames").size();
        }
        return names + (names == 1 ? " name" : " names");
    }

    private List<JsonNode> listIfServed(String path) {
        try {
            return list(path);
        } catch (ApiServerException e) {
            if (e.reason() == FailureReason.NOT_FOUND) {
                return List.of();
            }
            throw e;
        }
    }

    /** Returns all objects of a collection, page by page. */
    private List<JsonNode> list(String path) {
        List<JsonNode> items = new ArrayList<>();
        String next = "";
        do {
            String paged = path + (path.contains("?") ? "&" : "?") + "limit=" + PAGE
                    + (next.isEmpty() ? "" : "&continue=" + encoded(next));
            JsonNode page = get(paged);
            page.path("items").forEach(items::add);
            next = page.path("metadata").path("continue").asText("");
        } while (!next.isEmpty());
        return items;
    }

    private JsonNode get(String path) {
        try {
            return JSON.readTree(joined(server.raw(path, TIMEOUT)));
        } catch (IOException e) {
            throw ApiServerException.withoutAnswer(
                    FailureReason.UNREADABLE, "GET " + path, "the answer is no JSON", null);
        }
    }

    private <T> T joined(CompletableFuture<T> answer) {
        wait.accept(answer.handle((value, thrown) -> ""));
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                throw failure;
            }
            throw e;
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
