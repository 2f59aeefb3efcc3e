package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.access.GrantPolicy;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code doctor --grants} on the embedded API server with Roles. */
@ExtendWith(NoLeaks.class)
class GrantsCheckupTest {

    private static final String POLICY = """
            apiVersion: podcache.dev/v1alpha1
            kind: GrantPolicy
            metadata: {name: websites}
            spec:
              role: podcache-websites
              namespaces: {matchLabels: {shops: "true"}}
              owners:
              - apiVersion: example.dev/v1
                kind: Website
                references:
                - {kind: Secret, path: ".spec.secrets[*]"}
            """;

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();
    private final KubernetesClient admin = new KubernetesClientBuilder()
            .withConfig(config("admin", "system:masters"))
            .build();

    @TempDir
    private Path folder;

    @BeforeEach
    void serveWebsites() {
        cluster.serve(ObjectKind.of("example.dev/v1", "Website", "websites", true));
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("shop")
                .addToLabels("shops", "true")
                .endMetadata()
                .build());
    }

    @AfterEach
    void close() {
        admin.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }

    private Config config(String user, String... groups) {
        return Config.fromKubeconfig(server.kubeconfigFor(user, groups));
    }

    private List<Diagnosis> diagnoses(String policy, Config as) throws IOException {
        Path file = Files.writeString(folder.resolve("policy.yaml"), policy);
        try (Fabric8ApiServer apiServer = Fabric8ApiServer.of(as, RequestLimit.UNLIMITED)) {
            GrantsCheckup checkup = new GrantsCheckup(apiServer, GrantPolicy.read(file));
            checkup.run(CompletableFuture::join);
            return checkup.diagnoses();
        }
    }

    private List<String> diagnosed(String policy, Config as) throws IOException {
        return diagnoses(policy, as).stream()
                .map(each -> each.level() + " " + each.what())
                .toList();
    }

    /** Returns the diagnosis that names this binding as one that lets the operator read without names. */
    private Diagnosis ofBinding(String policy, String binding) throws IOException {
        return diagnoses(policy, config("admin", "system:masters")).stream()
                .filter(each -> each.what().endsWith(": " + binding))
                .findFirst()
                .orElseThrow();
    }

    private List<String> diagnosed() throws IOException {
        return diagnosed(POLICY, config("admin", "system:masters"));
    }

    private void website(String name, List<String> secrets, Map<String, Object> more) {
        GenericKubernetesResource website = new GenericKubernetesResource();
        website.setApiVersion("example.dev/v1");
        website.setKind("Website");
        website.setMetadata(
                new ObjectMetaBuilder().withNamespace("shop").withName(name).build());
        Map<String, Object> spec = new LinkedHashMap<>(more);
        spec.put("secrets", secrets);
        website.setAdditionalProperty("spec", spec);
        admin.resource(website).create();
    }

    private void role(String name, String policy, String... secrets) {
        RoleBuilder role = new RoleBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .addToLabels("podcache.dev/policy", policy)
                .endMetadata();
        if (secrets.length > 0) {
            role.addNewRule()
                    .withApiGroups("")
                    .withResources("secrets")
                    .withResourceNames(secrets)
                    .withVerbs("get", "list", "watch")
                    .endRule();
        }
        cluster.create(role.build());
    }

    private void bind(String binding, String kind, String role) {
        cluster.create(new RoleBindingBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(binding)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", kind, role)
                .addNewSubject("", "ServiceAccount", "operator", "shop")
                .build());
    }

    private static PolicyRule rule(String group, String resource, String... verbs) {
        return new PolicyRuleBuilder()
                .withApiGroups(group)
                .withResources(resource)
                .withVerbs(verbs)
                .build();
    }

    /** Lets the operator, and users, do in all namespaces what these rules say. */
    private void bindEverywhere(String name, List<PolicyRule> rules, String... users) {
        cluster.create(new ClusterRoleBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withRules(rules)
                .build());
        ClusterRoleBindingBuilder binding = new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", name)
                .addNewSubject("", "ServiceAccount", "operator", "shop");
        for (String user : users) {
            binding.addNewSubject("rbac.authorization.k8s.io", "User", user, null);
        }
        cluster.create(binding.build());
    }

    @Test
    void owner_whoseReferencesAreGranted_isWell_andTheBroadRoleMayGo() throws IOException {
        website("one", List.of("tls", "db"), Map.of());
        website("none", List.of(), Map.of());
        role("podcache-websites", "websites", "db", "tls");
        bind("operator", "Role", "podcache-websites");
        assertThat(diagnosed())
                .containsExactlyInAnyOrder(
                        "OK Website shop/one refers to Secret tls, Secret db; granted",
                        "OK Website shop/none refers to nothing",
                        "OK policy websites: nothing is missing for 2 owners; the broad Role may go, if there is one of"
                                + " ServiceAccount shop/operator",
                        "OK no Role is left of a policy that is gone");

        bindEverywhere("read", List.of(rule("", "secrets", "get", "list", "watch")));
        bind("all", "ClusterRole", "cluster-admin");
        assertThat(diagnosed())
                .contains(
                        "NOTE policy websites: nothing is missing for 2 owners; the broad Role may go: ClusterRoleBinding read",
                        "NOTE policy websites: nothing is missing for 2 owners; the broad Role may go in part: RoleBinding"
                                + " shop/all");
        assertThat(ofBinding(POLICY, "ClusterRoleBinding read").remedy())
                .startsWith("delete the binding")
                .contains("first give the reader a Role");
    }

    /** Without it, an operator has no Lease, and cannot read its own resources. */
    @Test
    void broadRole_thatAllowsMoreThanTheReads_isNotToBeDeleted() throws IOException {
        website("one", List.of("tls"), Map.of());
        role("podcache-websites", "websites", "tls");
        bind("operator", "Role", "podcache-websites");
        bindEverywhere(
                "manager",
                List.of(
                        rule("", "secrets", "get", "list", "watch"),
                        rule("example.dev", "websites", "list"),
                        rule("coordination.k8s.io", "leases", "get", "update"),
                        rule("", "events", "create"),
                        rule("", "pods", "get")));

        Diagnosis manager = ofBinding(POLICY, "ClusterRoleBinding manager");

        assertThat(manager.what()).contains("may go in part");
        assertThat(manager.why())
                .endsWith("its role allows more than that (list of websites; get, update of leases; create of events;"
                        + " and more)");
        assertThat(manager.remedy())
                .startsWith("keep the binding, and take only these reads of Secret out of the role")
                .doesNotContain("delete");
    }

    @Test
    void broadRole_thatAllowsMoreWithTheSameObjects_isNotToBeDeleted() throws IOException {
        role("podcache-websites", "websites");
        bind("operator", "Role", "podcache-websites");
        bindEverywhere("creator", List.of(rule("", "secrets", "get", "create")));

        assertThat(ofBinding(POLICY, "ClusterRoleBinding creator").remedy()).startsWith("keep the binding");
    }

    @Test
    void broadBinding_ofOthersToo_isNotToBeDeleted() throws IOException {
        role("podcache-websites", "websites");
        bind("operator", "Role", "podcache-websites");
        bindEverywhere("shared", List.of(rule("", "secrets", "get")), "backup");

        Diagnosis shared = ofBinding(POLICY, "ClusterRoleBinding shared");

        assertThat(shared.why()).endsWith("it is also for User backup");
        assertThat(shared.remedy())
                .isEqualTo(
                        "keep the binding, and take only the reader out of its subjects; it is for all namespaces: first"
                                + " give the reader a Role for what it reads in those that the policy does not select");
    }

    /** What one policy can do without may be all that the owners of another have. */
    @Test
    void broadRole_thatAnotherPolicyOfTheFileNeeds_mustStayForBoth() throws IOException {
        String second = POLICY.replace("websites}", "more}").replace("podcache-websites", "podcache-more");
        website("one", List.of("tls"), Map.of());
        role("podcache-websites", "websites", "tls");
        role("podcache-more", "more");
        bind("operator", "Role", "podcache-websites");
        bind("more", "Role", "podcache-more");
        bindEverywhere("read", List.of(rule("", "secrets", "get", "list", "watch")));

        assertThat(diagnosed(POLICY + "---\n" + second, config("admin", "system:masters")))
                .contains(
                        "NOTE policy websites: nothing is missing for 1 owners; the broad Role must stay for policy more:"
                                + " ClusterRoleBinding read",
                        "PROBLEM policy more: 1 of 1 owners lack access, so the broad Role must stay: ClusterRoleBinding"
                                + " read")
                .noneMatch(line -> line.contains("may go"));
    }

    /** Each policy alone can do without a part of it only. */
    @Test
    void broadRole_whoseKindsTwoPoliciesGrant_mayGo() throws IOException {
        String second = POLICY.replace("websites}", "settings}")
                .replace("podcache-websites", "podcache-settings")
                .replace("kind: Secret", "kind: ConfigMap");
        role("podcache-websites", "websites");
        role("podcache-settings", "settings");
        bind("operator", "Role", "podcache-websites");
        bind("settings", "Role", "podcache-settings");
        bindEverywhere("read", List.of(rule("", "secrets", "get"), rule("", "configmaps", "get")));

        assertThat(diagnosed(POLICY + "---\n" + second, config("admin", "system:masters")))
                .contains(
                        "NOTE policy websites: nothing is missing for 0 owners; the broad Role may go: ClusterRoleBinding read",
                        "NOTE policy settings: nothing is missing for 0 owners; the broad Role may go: ClusterRoleBinding read");
    }

    @Test
    void owner_withAMissingName_saysWhich_andTheBroadRoleMustStay() throws IOException {
        website("one", List.of("tls", "db"), Map.of());
        role("podcache-websites", "websites", "db");
        bind("operator", "Role", "podcache-websites");
        bind("all", "ClusterRole", "cluster-admin");

        assertThat(diagnosed())
                .containsExactly(
                        "PROBLEM Website shop/one refers to Secret tls, Secret db; not granted: Secret tls",
                        "PROBLEM policy websites: 1 of 1 owners lack access, so the broad Role must stay: RoleBinding shop/all",
                        "OK no Role is left of a policy that is gone");
    }

    @Test
    void roleThatNobodyIsBoundTo_isAProblem() throws IOException {
        website("one", List.of("tls"), Map.of());
        role("podcache-websites", "websites", "tls");

        assertThat(diagnosed())
                .contains("PROBLEM Role podcache-websites of namespace shop is bound to nobody")
                .anyMatch(line -> line.contains("the broad Role must stay"));
    }

    @Test
    void roleOfSomebodyElse_isNamed_alsoIfItGrantsTheReferencesNow() throws IOException {
        website("one", List.of("tls"), Map.of());
        cluster.create(new RoleBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("podcache-websites")
                .endMetadata()
                .addNewRule()
                .withApiGroups("")
                .withResources("secrets")
                .withResourceNames("tls")
                .withVerbs("get", "list", "watch")
                .endRule()
                .build());
        bind("operator", "Role", "podcache-websites");

        assertThat(diagnosed())
                .containsExactly(
                        "PROBLEM Role podcache-websites of namespace shop is somebody else's: it has no label podcache.dev/policy",
                        "OK Website shop/one refers to Secret tls; granted",
                        "PROBLEM policy websites: 1 of 1 owners lack access, so the broad Role must stay",
                        "OK no Role is left of a policy that is gone");
    }

    /** A kube-apiserver writes {@code "rules": null} then. */
    @Test
    void roleWithoutRules_grantsNothing() {
        Role role = new RoleBuilder().build();
        role.setRules(null);

        assertThat(GrantDiagnoses.rules(role)).isEmpty();
    }

    @Test
    void roleOfAnotherPolicy_isNamed() throws IOException {
        website("one", List.of("tls"), Map.of());
        role("podcache-websites", "other", "tls");

        assertThat(diagnosed())
                .contains(
                        "PROBLEM Role podcache-websites of namespace shop is of another policy: its label says \"other\"",
                        "PROBLEM Role podcache-websites of namespace shop is bound to nobody",
                        "PROBLEM policy websites: 1 of 1 owners lack access, so the broad Role must stay");
    }

    /** A controller with another file may keep it. */
    @Test
    void roleOfAPolicyThatIsNotInTheFile_isANote_thatSaysHowToFindOutWhoKeepsIt() throws IOException {
        role("podcache-other", "other", "tls", "db");

        List<Diagnosis> found = diagnoses(POLICY, config("admin", "system:masters"));

        assertThat(found).noneMatch(Diagnosis::isProblem);
        Diagnosis note = found.stream()
                .filter(each -> each.what().startsWith("Role shop/podcache-other "))
                .findFirst()
                .orElseThrow();
        assertThat(note.level()).isEqualTo(Diagnosis.Level.NOTE);
        assertThat(note.what()).endsWith("is of policy \"other\", which is not in the file; it grants 2 names");
        assertThat(note.remedy()).contains("Lease podcache-grants-other,");
    }

    /** As after the policy got another role. */
    @Test
    void otherRoleOfAPolicyOfTheFile_isAProblem() throws IOException {
        role("podcache-old", "websites", "tls");

        assertThat(diagnosed())
                .contains("PROBLEM Role shop/podcache-old is of policy \"websites\", which has another Role or does not"
                        + " select the namespace; it grants 1 name");
    }

    @Test
    void roleThatSomebodyGaveARuleWithoutNames_isSaidToGrantMore() throws IOException {
        cluster.create(new RoleBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("podcache-old")
                .addToLabels("podcache.dev/policy", "websites")
                .endMetadata()
                .withRules(rule("", "secrets", "get"))
                .build());

        assertThat(diagnosed())
                .anyMatch(line -> line.startsWith("PROBLEM") && line.endsWith("it grants more than names"));
    }

    /** A controller empties the Role of a namespace that was taken out of its policy, and leaves it. */
    @Test
    void roleWithoutRules_thatNoPolicySelects_isNothing() throws IOException {
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("blog")
                .endMetadata()
                .build());
        cluster.create(new RoleBuilder()
                .withNewMetadata()
                .withNamespace("blog")
                .withName("podcache-websites")
                .addToLabels("podcache.dev/policy", "websites")
                .endMetadata()
                .build());
        role("podcache-other", "other");

        assertThat(diagnosed()).contains("OK no Role is left of a policy that is gone");
    }

    @Test
    void owner_whoseAccountMayNotGetTheObject_isANote() throws IOException {
        website("one", List.of("tls"), Map.of("account", "web"));
        role("podcache-websites", "websites");
        bind("operator", "Role", "podcache-websites");
        String onBehalf = POLICY.replace(
                "    kind: Website\n", "    kind: Website\n    onBehalfOf: {serviceAccount: .spec.account}\n");

        assertThat(diagnosed(onBehalf, config("admin", "system:masters")))
                .contains("NOTE Website shop/one refers to Secret tls; denied: Secret tls")
                .anyMatch(line -> line.contains("the broad Role may go"));
    }

    /** What only the Role of the policy allows is no right of the ServiceAccount. */
    @Test
    void owner_whoseAccountMayGetTheObjectByThePolicyOnly_isANote() throws IOException {
        website("one", List.of("tls"), Map.of("account", "operator"));
        role("podcache-websites", "websites");
        bind("operator", "Role", "podcache-websites");
        String onBehalf = POLICY.replace(
                "    kind: Website\n", "    kind: Website\n    onBehalfOf: {serviceAccount: .spec.account}\n");

        assertThat(diagnosed(onBehalf, config("admin", "system:masters")))
                .contains("NOTE Website shop/one refers to Secret tls; denied: Secret tls");
    }

    @Test
    void kindThatIsNotServed_keepsTheBroadRole() throws IOException {
        bind("operator", "ClusterRole", "all");
        String misspelt = POLICY.replace("example.dev/v1", "apps/v1").replace("Website", "Deploymnet");

        assertThat(diagnosed(misspelt, config("admin", "system:masters")))
                .contains(
                        "PROBLEM the server does not serve Deploymnet of apps/v1",
                        "PROBLEM policy websites: not all of its owners are known, so the broad Role must stay")
                .noneMatch(line -> line.contains("may go"));
    }

    @Test
    void credentialsThatMayNotList_areAProblem() throws IOException {
        assertThat(diagnosed(POLICY, config("nobody")))
                .singleElement()
                .asString()
                .startsWith("PROBLEM")
                .contains("403");
    }
}
