package dev.podcache.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class GrantsCommandTest {

    private static final String POLICY = """
            apiVersion: podcache.dev/v1alpha1
            kind: GrantPolicy
            metadata: {name: orders}
            spec:
              role: podcache-orders
              namespaces: [shop]
              owners:
              - apiVersion: example.dev/v1
                kind: Website
                references:
                - {kind: Secret, path: .spec.tls.secretName}
            """;

    @TempDir
    private Path folder;

    private Path policy;
    private CapturedConsole console;

    @BeforeEach
    void writePolicy() throws IOException {
        policy = Files.writeString(folder.resolve("policy.yaml"), POLICY);
        console = new CapturedConsole(folder);
    }

    @Test
    void printRbac_saysFirstWhoDecides_thenEachRuleWithItsReason() {
        int code = console.execute(
                "grants",
                "--file",
                policy.toString(),
                "--print-rbac",
                "--controller",
                "shop/grants",
                "--operator",
                "jane");

        assertThat(console.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(String.join("\n", console.out())).startsWith("""
                # whoever may create a Website chooses what the operator may read: any Secret of its namespace
                # for ServiceAccount shop/grants, which keeps the Roles, and User jane, which reads what they grant
                # leave the ValidatingAdmissionPolicy and its binding out for a server before Kubernetes 1.30
                ---
                # what the controller may do in namespace shop
                apiVersion: rbac.authorization.k8s.io/v1
                kind: Role
                metadata: {name: podcache-grants-controller-orders, namespace: shop}
                rules:
                  # creates the Role without rules; no name can restrict a creation
                  - {apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [create]}
                  # sees and replaces the rules of these Roles; escalate lets it grant what it may not do itself
                  - {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [podcache-orders], verbs: [get, list, watch, patch, update, escalate]}
                  # follows the owners, whose fields name what is granted
                  - {apiGroups: [example.dev], resources: [websites], verbs: [list, watch]}
                  # tells owners what is not granted, and why
                  - {apiGroups: [""], resources: [events], verbs: [create, patch]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: RoleBinding
                metadata: {name: podcache-grants-controller-orders, namespace: shop}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: podcache-grants-controller-orders}
                subjects:
                  - {kind: ServiceAccount, name: grants, namespace: shop}
                """);
        assertThat(console.out())
                .contains("  - {kind: User, apiGroup: rbac.authorization.k8s.io, name: jane}")
                .noneMatch(line -> line.contains("ClusterRole"))
                .noneMatch(line -> line.contains("secrets]"))
                .anySatisfy(line -> assertThat(line).contains("failurePolicy: Fail"))
                // an empty name would allow to list all
                .anySatisfy(line -> assertThat(line).contains("!('' in rule.resourceNames)"))
                // a new Role has no rules, and what judges it has null for them
                .anySatisfy(line -> assertThat(line).contains("dyn(object.rules) == null || object.rules.all("));
    }

    @Test
    void printRbac_isWhatKubectlReads() {
        console.execute("grants", "--file", policy.toString(), "--print-rbac", "--cluster-wide");

        assertThat(String.join("\n", console.out()).split("(?m)^---$"))
                .extracting(document -> {
                    HasMetadata manifest = new KubernetesSerialization().unmarshal(document);
                    return manifest == null
                            ? ""
                            : manifest.getKind() + " " + manifest.getMetadata().getName();
                })
                .contains(
                        "ClusterRole podcache-grants-controller-orders",
                        "ClusterRoleBinding podcache-grants-controller-orders",
                        "Role podcache-grants-controller-orders",
                        "RoleBinding podcache-orders",
                        "ValidatingAdmissionPolicy podcache-grants-controller-system-serviceaccount-default-podcache-grants-2072225a",
                        "ValidatingAdmissionPolicyBinding podcache-grants-controller-system-serviceaccount-default-podcache-grants-2072225a");
    }

    /** Another first policy must not leave the old ValidatingAdmissionPolicy behind, which would refuse the new Roles. */
    @ParameterizedTest
    @CsvSource({
        "shop/grants, system-serviceaccount-shop-grants-1257cdc9",
        "jane, jane-81f8f6dd",
        "Jane, jane-4f23798d",
        "oidc:Jane Doe, oidc-jane-doe-08d4d5c3"
    })
    void printRbac_admissionPolicy_isNamedAfterTheIdentity(String controller, String expected) {
        console.execute("grants", "--file", policy.toString(), "--print-rbac", "--controller", controller);

        assertThat(String.join("\n", console.out()))
                .contains("metadata: {name: podcache-grants-controller-" + expected + "}")
                .contains("policyName: podcache-grants-controller-" + expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--print-rbac --dry-run | exclude each other",
                "--remove --dry-run | exclude each other",
                "--print-rbac --for 1s | --for is not for --print-rbac",
                "--remove --for 1s | --for is not for --print-rbac and --remove",
                "--audit-log x | --audit-log is for --dry-run",
                "--dry-run --audit-log x | --audit-log needs --operator",
                "--print-rbac --lease-namespace Shop | namespace \"Shop\" is not a legal Kubernetes name",
                "--print-rbac --operator shop/Web | name \"Web\" is not a legal Kubernetes name",
                "--for soon | --for"
            })
    void options_thatDoNotFit_areAUsageError(String options, String expected) {
        List<String> arguments = new ArrayList<>(List.of("grants", "--file", policy.toString()));
        arguments.addAll(List.of(options.split(" ")));

        assertThat(console.execute(arguments.toArray(String[]::new))).isEqualTo(2);
        assertThat(console.errText()).contains(expected).contains("try: podcache grants --help");
    }

    @Test
    void withoutAFile_isAUsageError() {
        assertThat(console.execute("grants")).isEqualTo(2);
        assertThat(console.errText()).contains("--file");
    }

    @Test
    void illegalPolicy_isAFailureThatNamesTheField() throws IOException {
        Files.writeString(policy, POLICY.replace("path: .spec", "path: spec"));

        assertThat(console.execute("grants", "--file", policy.toString(), "--print-rbac"))
                .isEqualTo(1);
        assertThat(console.errText())
                .startsWith("error: policy " + policy + ", line 11: spec.owners[0].references[0].path is \"spec.tls");
    }

    @Test
    void namespacesByLabels_needACluster() throws IOException {
        Files.writeString(policy, POLICY.replace("[shop]", "{matchLabels: {orders: \"true\"}}"));

        assertThat(console.execute("grants", "--file", policy.toString(), "--print-rbac"))
                .isEqualTo(1);
        assertThat(console.errText()).contains("selects namespaces by labels, so a cluster has to list them");
        assertThat(console.execute("grants", "--file", policy.toString(), "--print-rbac", "--cluster-wide"))
                .isZero();
        assertThat(console.out())
                .anySatisfy(line -> assertThat(line).contains("resources: [namespaces], verbs: [list, watch]"));
    }

    @Test
    void dryRun_besideAnAuditLog_tellsWhatWouldBeRefused_andWhatNobodyReads() throws IOException {
        Path audit = Files.writeString(folder.resolve("audit.log"), """
                {"auditID":"1","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"cert"},"responseStatus":{"code":200}}
                {"auditID":"2","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"db"},"responseStatus":{"code":200}}
                {"auditID":"3","verb":"list","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop"},"responseStatus":{"code":200}}
                """);
        Timekeeper timekeeper = Timekeeper.system();
        try (timekeeper;
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            cluster.serve(ObjectKind.of("example.dev/v1", "Website", "websites", true));
            cluster.create(website("front", "cert"));
            cluster.create(website("back", "never"));
            cluster.create(website("wrong", "no name of a Secret"));
            Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeconfigFor("admin"));
            int code = console.execute(
                    "grants",
                    "--file",
                    policy.toString(),
                    "--kubeconfig",
                    kubeconfig.toString(),
                    "--dry-run",
                    "--operator",
                    "shop/operator",
                    "--audit-log",
                    audit.toString());

            assertThat(console.errText()).isEmpty();
            assertThat(code).isZero();
            assertThat(console.out())
                    .containsExactly(
                            "Role shop/podcache-orders would grant: Secret cert, Secret never",
                            "Role podcache-orders would refuse: get secrets shop/db, which was made 1 times; no owner there"
                                    + " names it",
                            "Role podcache-orders would refuse: list secrets without a name in shop, which was made 1"
                                    + " times; a Role with names allows only requests that select one name",
                            "Role podcache-orders would grant what nobody reads: Secret shop/never",
                            "Role podcache-orders: 2 kinds of reads would have been refused, 1 names are read by nobody");
            assertThat(server.requests().snapshot().keySet())
                    .as("requests for objects")
                    .isNotEmpty()
                    .allMatch(request -> request.matches("(?i)(list|watch) .*"));
        }
    }

    /** RBAC adds Roles up: a read is allowed if one of them allows it. */
    @Test
    void dryRun_readThatAnotherPolicyOfTheFileGrants_wouldNotBeRefused() throws IOException {
        String second = POLICY.replace("orders", "stock").replace(".spec.tls.secretName", ".spec.db");
        Files.writeString(policy, POLICY + "---\n" + second);
        Path audit = Files.writeString(folder.resolve("audit.log"), """
                {"auditID":"1","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"cert"},"responseStatus":{"code":200}}
                {"auditID":"2","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"pw"},"responseStatus":{"code":200}}
                """);
        GenericKubernetesResource front = website("front", "cert");
        front.setAdditionalProperty("spec", Map.of("tls", Map.of("secretName", "cert"), "db", "pw"));

        assertThat(dryRun(audit, front))
                .containsExactly(
                        "Role shop/podcache-orders would grant: Secret cert",
                        "Role podcache-orders: 0 kinds of reads would have been refused, 0 names are read by nobody",
                        "Role shop/podcache-stock would grant: Secret pw",
                        "Role podcache-stock: 0 kinds of reads would have been refused, 0 names are read by nobody");
    }

    /** They may be by the broad Role, and go with it, or by a Role that stays. */
    @Test
    void dryRun_readsOfWhatNoPolicyGrants_areSaidOnceForEachResource() throws IOException {
        Path audit = Files.writeString(folder.resolve("audit.log"), """
                {"auditID":"1","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"cert"},"responseStatus":{"code":200}}
                {"auditID":"2","verb":"list","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"configmaps","namespace":"shop"},"responseStatus":{"code":200}}
                {"auditID":"3","verb":"list","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"configmaps"},"responseStatus":{"code":200}}
                {"auditID":"4","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"configmaps","namespace":"shop","name":"settings"},"responseStatus":{"code":200}}
                {"auditID":"5","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"apiGroup":"coordination.k8s.io","resource":"leases","namespace":"shop","name":"operator"},"responseStatus":{"code":200}}
                {"auditID":"6","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"requestURI":"/apis","responseStatus":{"code":200}}
                """);

        assertThat(dryRun(audit, website("front", "cert")))
                .containsExactly(
                        "Role shop/podcache-orders would grant: Secret cert",
                        "Role podcache-orders: 0 kinds of reads would have been refused, 0 names are read by nobody",
                        "not judged: get, list of configmaps, which was made 3 times; no policy grants it: keep a Role for it",
                        "not judged: get of leases.coordination.k8s.io, which was made 1 times; no policy grants it: keep a"
                                + " Role for it");
    }

    /** Returns what a dry run says of the reads of ServiceAccount shop/operator, while these owners exist. */
    private List<String> dryRun(Path audit, GenericKubernetesResource... owners) throws IOException {
        Timekeeper timekeeper = Timekeeper.system();
        try (timekeeper;
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            cluster.serve(ObjectKind.of("example.dev/v1", "Website", "websites", true));
            for (GenericKubernetesResource owner : owners) {
                cluster.create(owner);
            }
            Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeconfigFor("admin"));
            int code = console.execute(
                    "grants",
                    "--file",
                    policy.toString(),
                    "--kubeconfig",
                    kubeconfig.toString(),
                    "--dry-run",
                    "--operator",
                    "shop/operator",
                    "--audit-log",
                    audit.toString());

            assertThat(console.errText()).isEmpty();
            assertThat(code).isZero();
            return console.out();
        }
    }

    @Test
    void dryRun_besideAnAuditLogOfOthers_isAFailure_andNoTotal() throws IOException {
        Path audit = Files.writeString(folder.resolve("audit.log"), """
                {"auditID":"1","verb":"get","user":{"username":"system:serviceaccount:shop:operator"},"objectRef":{"resource":"secrets","namespace":"shop","name":"cert"},"responseStatus":{"code":200}}
                """);
        Timekeeper timekeeper = Timekeeper.system();
        try (timekeeper;
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            cluster.serve(ObjectKind.of("example.dev/v1", "Website", "websites", true));
            cluster.create(website("front", "cert"));
            Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), server.kubeconfigFor("admin"));
            int code = console.execute(
                    "grants",
                    "--file",
                    policy.toString(),
                    "--kubeconfig",
                    kubeconfig.toString(),
                    "--dry-run",
                    "--operator",
                    "shop/operatr",
                    "--audit-log",
                    audit.toString());

            assertThat(code).isEqualTo(1);
            assertThat(console.errText())
                    .startsWith(
                            "error: audit log \"" + audit
                                    + "\" has 1 event, none by system:serviceaccount:shop:operatr: check the name of the operator");
            assertThat(console.out()).isEmpty();
        }
    }

    private static GenericKubernetesResource website(String name, String secret) {
        GenericKubernetesResource website = new GenericKubernetesResource();
        website.setApiVersion("example.dev/v1");
        website.setKind("Website");
        website.setMetadata(
                new ObjectMetaBuilder().withNamespace("shop").withName(name).build());
        website.setAdditionalProperty("spec", Map.of("tls", Map.of("secretName", secret)));
        return website;
    }
}
