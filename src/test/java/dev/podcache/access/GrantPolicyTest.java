package dev.podcache.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrantPolicyTest {

    static final String ORDERS = """
            apiVersion: podcache.dev/v1alpha1
            kind: GrantPolicy
            metadata: {name: orders}
            spec:
              role: podcache-orders
              namespaces: {matchLabels: {orders: "true"}}
              owners:
              - apiVersion: example.dev/v1
                kind: Website
                onBehalfOf: {serviceAccount: .spec.serviceAccountName}
                references:
                - {kind: Secret, path: .spec.tls.secretName}
                - {kind: Secret, path: ".spec.credentials[*].secretRef.name"}
                - {kind: ConfigMap, path: .spec.settings}
              - {apiVersion: v1, kind: Pod}
            """;

    @TempDir
    private Path folder;

    private GrantPolicy read(String text) throws IOException {
        return GrantPolicy.read(Files.writeString(folder.resolve("policy.yaml"), text));
    }

    private RolePolicy orders() throws IOException {
        return read(ORDERS).roles().get(0);
    }

    @Test
    void read_theDocumentedPolicy_hasAllItSays() throws IOException {
        RolePolicy policy = orders();

        assertThat(policy.name()).isEqualTo("orders");
        assertThat(policy.role()).isEqualTo("podcache-orders");
        assertThat(policy.verbs()).containsExactly("get", "list", "watch");
        assertThat(policy.reviews()).isTrue();
        assertThat(policy.owners()).extracting(owner -> owner.kind().plural()).containsExactly("websites", "pods");
        assertThat(policy.grantedKinds()).containsExactly(ObjectKind.SECRET, ObjectKind.CONFIG_MAP);
        assertThat(policy.namespaces().selects("shop", Map.of("orders", "true")))
                .isTrue();
        assertThat(policy.namespaces().selects("shop", Map.of("orders", "false")))
                .isFalse();
        assertThat(policy.namespaces().selects("kube-system", Map.of("orders", "true")))
                .isFalse();
    }

    @Test
    void read_severalDocuments_areSeveralPolicies() throws IOException {
        String second = ORDERS.replace("name: orders", "name: blog").replace("podcache-orders", "podcache-blog");

        assertThat(read(ORDERS + "---\n" + second + "---\n").roles())
                .extracting(RolePolicy::role)
                .containsExactly("podcache-orders", "podcache-blog");
        assertThat(read(ORDERS)).hasToString("GrantPolicy orders of Role podcache-orders");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "[shop, blog] | shop | | true",
                "[shop, blog] | other | | false",
                "{} | any | | true",
                "{} | kube-public | | false",
                "{matchExpressions: [{key: a, operator: In, values: [x, w]}]} | n | a=x | true",
                "{matchExpressions: [{key: a, operator: In, values: [x, w]}]} | n | | false",
                "{matchExpressions: [{key: a, operator: NotIn, values: [x]}]} | n | a=x | false",
                "{matchExpressions: [{key: a, operator: NotIn, values: [x]}]} | n | | true",
                "{matchExpressions: [{key: a, operator: Exists}]} | n | a=z | true",
                "{matchExpressions: [{key: a, operator: DoesNotExist}]} | n | a=z | false",
                "{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]} | n | a=x | false"
            })
    void namespaces_ofListOrSelector_areSelected(String namespaces, String name, String label, boolean selected)
            throws IOException {
        RolePolicy policy = read(ORDERS.replace("{matchLabels: {orders: \"true\"}}", namespaces))
                .roles()
                .get(0);
        Map<String, String> labels = label == null ? Map.of() : Map.of(label.substring(0, 1), label.substring(2));

        assertThat(policy.namespaces().selects(name, labels)).isEqualTo(selected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "role: podcache-orders | rule: podcache-orders | line 5: spec.rule is no field of a policy",
                "role: podcache-orders | role: Podcache | line 5: spec.role name \"Podcache\" is not a legal Kubernetes name",
                "role: podcache-orders | role: podcache-grants-controller | line 5: spec.role is \"podcache-grants-controller\", which begins as the controller's own Roles do",
                "role: podcache-orders | role: podcache-grants-controller-orders | begins as the controller's own Roles do",
                "role: podcache-orders | role: 7 | line 5: spec.role is no text",
                "  role: podcache-orders | # | line 6: spec.role is missing",
                "metadata: {name: orders} | metadata: {name: a.b} | line 3: metadata.name is \"a.b\"",
                "apiVersion: podcache.dev/v1alpha1 | apiVersion: podcache.dev/v9 | line 1: apiVersion is \"podcache.dev/v9\": write podcache.dev/v1alpha1",
                "kind: GrantPolicy | kind: Policy | line 2: kind is \"Policy\": write GrantPolicy",
                "{matchLabels: {orders: \"true\"}} | [kube-system] | line 6: spec.namespaces[0] is kube-system, which never has such a Role",
                "{matchLabels: {orders: \"true\"}} | [kube-public] | which never has such a Role",
                "{matchLabels: {orders: \"true\"}} | [kube-node-lease] | which never has such a Role",
                "{matchLabels: {orders: \"true\"}} | [a, a] | spec.namespaces[1] is \"a\" a second time",
                "{matchLabels: {orders: \"true\"}} | [] | line 6: spec.namespaces is empty",
                "{matchLabels: {orders: \"true\"}} | [Shop] | line 6: spec.namespaces[0] is \"Shop\"",
                "{matchLabels: {orders: \"true\"}} | shop | line 6: spec.namespaces is neither a list of names nor a selector",
                "{matchLabels: {orders: \"true\"}} | {labels: {}} | spec.namespaces.labels is no field of a policy: the fields here are matchLabels, matchExpressions",
                "{matchLabels: {orders: \"true\"}} | {matchLabels: {orders: true}} | line 6: spec.namespaces.matchLabels.orders is no text",
                "{matchLabels: {orders: \"true\"}} | {matchExpressions: [{key: a, operator: in, values: [b]}]} | write In, NotIn, Exists or DoesNotExist",
                "{matchLabels: {orders: \"true\"}} | {matchExpressions: [{key: a, operator: In}]} | needs values for In",
                "{matchLabels: {orders: \"true\"}} | {matchExpressions: [{key: a, operator: Exists, values: [b]}]} | must be empty for Exists",
                "{matchLabels: {orders: \"true\"}} | {matchLabels: {\"a b\": c}} | which is no key of a label",
                "path: .spec.settings | path: \"\" | line 14: spec.owners[0].references[2].path is empty",
                "path: .spec.settings | path: spec.settings | is \"spec.settings\", which is not a path from character 1 on",
                "path: .spec.settings | paths: .spec.settings | spec.owners[0].references[2].paths is no field of a policy",
                "{kind: ConfigMap, | {kind: Widget, | line 14: spec.owners[0].references[2].kind is \"Widget\", which cannot be granted without its apiVersion",
                "{kind: ConfigMap, | {apiVersion: v1, kind: Node, | is Node, which has no namespace",
                "kind: Website | kind: website | line 9: spec.owners[0].kind cannot be a kind: kind \"website\" must be letters and digits",
                "apiVersion: example.dev/v1 | apiVersion: a/b/c | line 8: spec.owners[0].apiVersion cannot be a kind",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: v1, kind: Node, references: [{kind: Secret, path: .a}]} | line 15: spec.owners[1].kind is Node, which has no namespace",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: v1, kind: Namespace, references: [{kind: Secret, path: .a}]} | is Namespace, which has no namespace",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, references: [{kind: Secret, path: .a}]} | is ClusterRole, which has no namespace",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: v1, kind: Pod, references: [{kind: Secret, path: .a}]} | whose references are built in: leave it out",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: apps/v1, kind: Deployment} | line 15: spec.owners[1] has no references",
                "- {apiVersion: v1, kind: Pod} | - {apiVersion: example.dev/v1, kind: Website, references: [{kind: Secret, path: .a}]} | is example.dev/v1 Website a second time",
                "{serviceAccount: .spec.serviceAccountName} | {user: .spec.user} | spec.owners[0].onBehalfOf.user is no field of a policy: the fields here are serviceAccount",
                "{serviceAccount: .spec.serviceAccountName} | {} | line 10: spec.owners[0].onBehalfOf.serviceAccount is missing",
                "{serviceAccount: .spec.serviceAccountName} | ^ # ^ | line 10: spec.owners[0].onBehalfOf has no value: write one, or leave the field out",
                "{matchLabels: {orders: \"true\"}} | {matchLabels: } | line 6: spec.namespaces.matchLabels has no value",
                "role: podcache-orders | ^role: podcache-orders\n  verbs:^ | spec.verbs has no value",
                "role: podcache-orders | ^role: podcache-orders\n  verbs: [get, create]^ | line 6: spec.verbs[1] is \"create\": write get, list or watch",
                "role: podcache-orders | ^role: podcache-orders\n  verbs: []^ | spec.verbs is empty",
                "role: podcache-orders | ^role: podcache-orders\n  role: other^ | line 6: spec.role is written a second time"
            })
    void read_ofAnIllegalPolicy_namesFileLineFieldAndRemedy(String legal, String illegal, String expected) {
        String text = ORDERS.replace(legal, illegal);

        assertThat(text).isNotEqualTo(ORDERS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> read(text))
                .withMessageStartingWith("policy " + folder.resolve("policy.yaml") + ", line ")
                .withMessageContaining(expected);
    }

    @Test
    void read_twoPoliciesOfOneRole_isRefused() {
        String second = ORDERS.replace("name: orders", "name: blog");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> read(ORDERS + "---\n" + second))
                .withMessageContaining(
                        "line 17: spec.role: the policy at line 1 has the Role \"podcache-orders\" already");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> read(ORDERS + "---\n" + ORDERS.replace("podcache-orders", "other")))
                .withMessageContaining("metadata.name: the policy at line 1 has the name \"orders\" already");
    }

    @Test
    void read_ofNoPolicy_isRefusedByFile() {
        assertThatIllegalArgumentException().isThrownBy(() -> read("")).withMessageContaining("has no policy");
        assertThatIllegalArgumentException().isThrownBy(() -> read("a: [")).withMessageContaining("line 1");
        assertThatIllegalArgumentException().isThrownBy(() -> read("- a")).withMessageContaining("is no map of fields");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GrantPolicy.read(folder))
                .withMessageContaining("is a directory");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GrantPolicy.read(folder.resolve("absent.yaml")))
                .withMessageContaining("absent.yaml")
                .withMessageContaining("does not exist");
    }

    private static GenericKubernetesResource website(Map<String, ?> spec) {
        GenericKubernetesResource website = new GenericKubernetesResource();
        website.setApiVersion("example.dev/v1");
        website.setKind("Website");
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace("shop")
                .withName("front")
                .withUid("u-1")
                .withAnnotations(Map.of("example.dev/secret", "noted"))
                .build());
        website.setAdditionalProperty("spec", spec);
        return website;
    }

    @Test
    void owner_ofACustomResource_refersToWhatItsFieldsName() throws IOException {
        GrantOwner owner = RolePolicy.owner(
                        orders().owners().get(0),
                        website(Map.of(
                                "serviceAccountName",
                                "web",
                                "tls",
                                Map.of("secretName", "cert"),
                                "settings",
                                "cert",
                                "credentials",
                                List.of(
                                        Map.of("secretRef", Map.of("name", "db")),
                                        Map.of("secretRef", Map.of("name", "NOT A NAME")),
                                        Map.of("secretRef", Map.of("name", "../db"))))))
                .orElseThrow();

        assertThat(owner.references())
                .extracting(Object::toString)
                .containsExactly("Secret shop/cert", "Secret shop/db", "ConfigMap shop/cert");
        assertThat(owner.illegal()).isEqualTo(2);
        assertThat(owner.account()).isEqualTo("web");
    }

    @Test
    void owner_withoutALegalAccount_refersForNobody() throws IOException {
        RolePolicy.OwnerKind kind = orders().owners().get(0);

        assertThat(RolePolicy.owner(kind, website(Map.of())).orElseThrow().account())
                .isEmpty();
        assertThat(RolePolicy.owner(kind, website(Map.of("serviceAccountName", "a:b")))
                        .orElseThrow()
                        .account())
                .isEmpty();
    }

    @Test
    void owner_thatIsAPod_countsUntilItHasEnded() throws IOException {
        RolePolicy.OwnerKind kind = orders().owners().get(1);
        Pod pod = Pods.withSecrets("shop", "web", "u-2", List.of("db"));
        Pod deleted = new PodBuilder(pod)
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build();
        Pod ended = new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Succeeded")
                .endStatus()
                .build();

        assertThat(RolePolicy.owner(kind, pod).orElseThrow().references())
                .extracting(Object::toString)
                .containsExactly("Secret shop/db");
        assertThat(RolePolicy.owner(kind, deleted)).isPresent();
        assertThat(RolePolicy.owner(kind, ended)).isEmpty();
    }

    @Test
    void owner_thatIsAPodOnBehalfOf_refersForItsServiceAccount() throws IOException {
        RolePolicy.OwnerKind kind = read(ORDERS.replace(
                        "{apiVersion: v1, kind: Pod}",
                        "{apiVersion: v1, kind: Pod, onBehalfOf: {serviceAccount: .spec.serviceAccountName}}"))
                .roles()
                .get(0)
                .owners()
                .get(1);
        Pod pod = new PodBuilder(Pods.withSecrets("shop", "web", "u-2", List.of("db")))
                .editSpec()
                .withServiceAccountName("web")
                .endSpec()
                .build();

        assertThat(RolePolicy.owner(kind, pod).orElseThrow().account()).isEqualTo("web");
        assertThat(RolePolicy.owner(kind, pod).orElseThrow().references())
                .extracting(Object::toString)
                .containsExactly("Secret shop/db");
    }
}
