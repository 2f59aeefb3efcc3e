package dev.podcache.access;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Grants on the embedded server with Roles, with identities that have what the program prints, and with faults. */
@ExtendWith(NoLeaks.class)
class GrantsEmbeddedTest {

    private static final ObjectKind<GenericKubernetesResource> WEBSITE =
            ObjectKind.of("example.dev/v1", "Website", "websites", true);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final Resource websites = cluster.serve(WEBSITE);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();
    private final KubernetesClient admin = client("admin", "system:masters");
    private final KubernetesClient controller = client("controller");
    private final KubernetesClient operator = client("operator");

    @TempDir
    private Path folder;

    private Path policy;

    @BeforeEach
    void grantWhatIsPrinted() throws IOException {
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("shop")
                .addToLabels("orders", "true")
                .endMetadata()
                .build());
        policy = Files.writeString(folder.resolve("policy.yaml"), """
                apiVersion: podcache.dev/v1alpha1
                kind: GrantPolicy
                metadata: {name: orders}
                spec:
                  role: podcache-orders
                  namespaces: {matchLabels: {orders: "true"}}
                  owners:
                  - apiVersion: example.dev/v1
                    kind: Website
                    references: [{kind: Secret, path: ".spec.secrets[*]"}]
                """);
        CapturedConsole console = new CapturedConsole(folder);
        // a program sends no token without TLS, as kubectl does: so it asks a server that lets everybody ask
        try (EmbeddedApiServer open = EmbeddedApiServer.start(cluster)) {
            Path kubeconfig = Files.writeString(folder.resolve("admin.yaml"), open.kubeconfigFor("admin"));
            console.execute(
                    "grants",
                    "--file",
                    policy.toString(),
                    "--print-rbac",
                    "--kubeconfig",
                    kubeconfig.toString(),
                    "--lease-namespace",
                    "default",
                    "--controller",
                    "controller",
                    "--operator",
                    "operator");
        }
        assertThat(console.errText()).isEmpty();
        assertThat(console.out().get(0))
                .startsWith("# whoever may create a Website chooses what the operator may read");
        admin.load(new ByteArrayInputStream(String.join("\n", console.out()).getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(resource -> resource.create());
        for (String secret : List.of("db", "cert", "canary")) {
            cluster.create(Secrets.of("shop", secret, "v1"));
        }
    }

    @AfterEach
    void stop() {
        operator.close();
        controller.close();
        admin.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }

    private KubernetesClient client(String user, String... groups) {
        return new KubernetesClientBuilder()
                .withConfig(config(server.kubeconfigFor(user, groups)))
                .build();
    }

    private static Config config(String kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig);
        config.setRequestRetryBackoffLimit(0);
        return config;
    }

    private Grants.Builder grants(KubernetesClient client) {
        return Grants.builder(client).policy(GrantPolicy.read(policy)).leaseNamespace("default");
    }

    private GenericKubernetesResource website(String name, String... secrets) {
        GenericKubernetesResource website = new GenericKubernetesResource();
        website.setApiVersion("example.dev/v1");
        website.setKind("Website");
        website.setMetadata(
                new ObjectMetaBuilder().withNamespace("shop").withName(name).build());
        website.setAdditionalProperty("spec", Map.of("secrets", List.of(secrets)));
        return website;
    }

    private Set<String> granted() {
        Set<String> names = new TreeSet<>();
        for (Role role : admin.rbac().roles().inNamespace("shop").list().getItems()) {
            if (role.getMetadata().getName().equals("podcache-orders")) {
                for (PolicyRule rule : role.getRules()) {
                    names.addAll(rule.getResourceNames());
                }
            }
        }
        return names;
    }

    private boolean reads(KubernetesClient client, String secret) {
        try {
            return client.secrets().inNamespace("shop").withName(secret).get() != null;
        } catch (KubernetesClientException e) {
            assertThat(e.getCode()).isEqualTo(403);
            return false;
        }
    }

    @Test
    void references_areGranted_andTaken_withTheRightsThatArePrinted() {
        admin.resource(website("front", "db")).create();
        try (Grants grants = grants(controller).start()) {
            await().until(() -> reads(operator, "db"));
            assertThat(reads(operator, "canary")).isFalse();
            assertThat(reads(controller, "db")).isFalse();
            assertThat(grants.isLeading()).isTrue();

            admin.resource(website("back", "cert")).create();
            await().until(() -> reads(operator, "cert"));
            admin.resource(website("front")).delete();
            await().until(() -> !reads(operator, "db"));
            assertThat(granted()).containsExactly("cert");
        }
    }

    @Test
    void namespaceThatIsSelectedNoMore_losesItsGrants_andGetsThemBack() {
        admin.resource(website("front", "db")).create();
        try (Grants grants = grants(controller).start()) {
            await().until(() -> reads(operator, "db"));

            label("shop", false);
            await().until(() -> granted().isEmpty());

            label("shop", true);
            await().until(() -> granted().contains("db"));
            assertThat(grants.isLeading()).isTrue();
        }
    }

    private void label(String namespace, boolean selected) {
        admin.namespaces()
                .withName(namespace)
                .edit(found -> selected
                        ? new NamespaceBuilder(found)
                                .editMetadata()
                                .addToLabels("orders", "true")
                                .endMetadata()
                                .build()
                        : new NamespaceBuilder(found)
                                .editMetadata()
                                .removeFromLabels("orders")
                                .endMetadata()
                                .build());
    }

    @Test
    void namespaceThatIsTakenOutWhileNobodyLeads_losesItsGrants_andGetsThemBack() {
        admin.resource(website("front", "db")).create();
        try (Grants before = grants(controller).start()) {
            await().until(() -> reads(operator, "db"));
            assertThat(before.isLeading()).isTrue();
        }
        label("shop", false);
        assertThat(reads(operator, "db")).isTrue();

        try (Grants after = grants(controller).start()) {
            await().until(() -> !reads(operator, "db"));
            assertThat(granted()).isEmpty();

            label("shop", true);
            await().until(() -> reads(operator, "db"));
            assertThat(after.isLeading()).isTrue();
        }
    }

    @Test
    void roleOfAnotherPolicyOrOfNobody_inANamespaceThatIsNotSelected_isLeftAlone() {
        for (String namespace : List.of("theirs", "nobodys", "left")) {
            cluster.create(new NamespaceBuilder()
                    .withNewMetadata()
                    .withName(namespace)
                    .endMetadata()
                    .build());
        }
        Role theirs = admin.resource(role("theirs", Map.of(RolePolicy.LABEL, "another"), "db"))
                .create();
        Role nobodys = admin.resource(role("nobodys", Map.of(), "db")).create();
        admin.resource(role("left", Map.of(RolePolicy.LABEL, "orders"), "db")).create();
        try (Grants grants = grants(admin).start()) {
            await().until(() -> admin.rbac()
                    .roles()
                    .inNamespace("left")
                    .withName("podcache-orders")
                    .get()
                    .getRules()
                    .isEmpty());

            assertThat(grants.isLeading()).isTrue();
            assertThat(admin.resource(theirs).get()).isEqualTo(theirs);
            assertThat(admin.resource(nobodys).get()).isEqualTo(nobodys);
        }
    }

    private static Role role(String namespace, Map<String, String> labels, String... secrets) {
        return role("podcache-orders", namespace, labels, secrets);
    }

    private static Role role(String name, String namespace, Map<String, String> labels, String... secrets) {
        return new RoleBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withLabels(labels)
                .endMetadata()
                .addNewRule()
                .withApiGroups("")
                .withResources("secrets")
                .withResourceNames(secrets)
                .withVerbs("get", "list", "watch")
                .endRule()
                .build();
    }

    @Test
    void rolesOfOtherNamespaces_thatMayNotBeListedOrWritten_areWarnedOf(NoLeaks leaks) {
        leaks.allowWarnings("cannot be looked for in namespaces that are not selected");
        leaks.allowWarnings("cannot be written");
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("left")
                .endMetadata()
                .build());
        admin.resource(role("left", Map.of(RolePolicy.LABEL, "orders"), "db")).create();
        ClusterRole printed = admin.rbac()
                .clusterRoles()
                .withName("podcache-grants-controller-orders")
                .get();
        admin.resource(new ClusterRoleBuilder(printed)
                        .removeMatchingFromRules(rule -> rule.getResources().equals(List.of("roles")))
                        .build())
                .update();
        admin.resource(website("front", "db")).create();

        try (Grants grants = grants(controller).start()) {
            await().until(() -> reads(operator, "db") && !leaks.warnings().isEmpty());

            assertThat(grants.isLeading()).isTrue();
            assertThat(leaks.warnings())
                    .singleElement()
                    .asString()
                    .contains("Role podcache-orders", "cannot list", "podcache grants --remove");
        }
        printed.getMetadata().setResourceVersion(null);
        admin.resource(printed).update();
        try (Grants grants = grants(controller).start()) {
            await().until(() -> leaks.warnings().stream()
                    .anyMatch(warning -> warning.contains("left/podcache-orders cannot be written")
                            && warning.contains("delete the Role")));
            assertThat(grants.isLeading()).isTrue();
        }
    }

    @Test
    void roleWithoutALabel_isNotTakenOver_andAnEventSaysSo(NoLeaks leaks) {
        leaks.allowWarnings("is left as it is");
        Role theirs = admin.resource(role("shop", Map.of(), "canary")).create();
        admin.resource(website("front", "db")).create();
        try (Grants grants = grants(controller).start()) {
            await().until(() -> admin.v1().events().inNamespace("shop").list().getItems().stream()
                    .anyMatch(event -> event.getReason().equals("RoleOfSomebodyElse")
                            && event.getInvolvedObject().getName().equals("podcache-orders")));

            assertThat(grants.isLeading()).isTrue();
            assertThat(admin.resource(theirs).get()).isEqualTo(theirs);
            assertThat(leaks.warnings()).singleElement().asString().contains("label it podcache.dev/policy=orders");

            admin.resource(theirs)
                    .edit(role -> new RoleBuilder(role)
                            .editMetadata()
                            .addToLabels(RolePolicy.LABEL, "orders")
                            .endMetadata()
                            .build());
            await().until(() -> granted().equals(Set.of("db")));
        }
    }

    /** The Role of a policy allows the operator what owners refer to. That must not keep a name in the Role. */
    @Test
    void ownerOnBehalfOfTheOperator_isGrantedNothingByThePolicyItself() throws IOException {
        Files.writeString(
                policy,
                Files.readString(policy)
                        .replace(
                                "    references:", "    onBehalfOf: {serviceAccount: .spec.account}\n    references:"));
        bind("podcache-orders", "operator");
        admin.resource(role("web", "shop", Map.of(), "db")).create();
        bind("web", "web");
        admin.resource(on(website("front", "db"), "web")).create();
        try (Grants grants = grants(admin).start()) {
            await().until(() -> granted().equals(Set.of("db")));
            assertThat(grants.isLeading()).isTrue();

            admin.resource(on(website("thief", "db"), "operator")).create();
            await().until(() -> admin.v1().events().inNamespace("shop").list().getItems().stream()
                    .anyMatch(event -> event.getReason().equals("GrantDenied")
                            && event.getMessage()
                                    .contains("thief ServiceAccount operator has no right of its own to get Secret"
                                            + " shop/db")));
            admin.resource(website("front")).delete();

            await().until(() -> granted().isEmpty());
        }
    }

    private void bind(String role, String account) {
        admin.resource(new RoleBindingBuilder()
                        .withNewMetadata()
                        .withNamespace("shop")
                        .withName(role + "-" + account)
                        .endMetadata()
                        .withNewRoleRef("rbac.authorization.k8s.io", "Role", role)
                        .addNewSubject("", "ServiceAccount", account, "shop")
                        .build())
                .create();
    }

    private static GenericKubernetesResource on(GenericKubernetesResource website, String account) {
        Map<String, Object> spec = new HashMap<>(website.<Map<String, Object>>get("spec"));
        spec.put("account", account);
        website.setAdditionalProperty("spec", spec);
        return website;
    }

    @Test
    void kindAnswered404_shrinksNothing_untilItsDefinitionIsAbsent(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("is not defined; nothing of it is granted");
        admin.resource(website("front", "db")).create();
        try (Grants grants = grants(controller).start()) {
            await().until(() -> reads(operator, "db"));
            assertThat(grants.isLeading()).isTrue();

            StatusException absent = new StatusException(new StatusBuilder()
                    .withCode(404)
                    .withReason("NotFound")
                    .withMessage("not there")
                    .build());
            RequestPattern lists = RequestPattern.any().verb(Verb.LIST).resource(websites);
            RequestPattern watches = RequestPattern.any().verb(Verb.WATCH).resource(websites);
            server.faults().fail(absent, lists);
            server.faults().fail(absent, watches);
            int before = server.requests().of(Verb.LIST, websites)
                    + server.requests().of(Verb.WATCH, websites);
            server.faults().resetWatches(watches);
            await().until(() -> server.requests().of(Verb.LIST, websites)
                            + server.requests().of(Verb.WATCH, websites)
                    >= before + 3);
            assertThat(granted()).containsExactly("db");
            server.faults().clear();
            admin.resource(website("back", "cert")).create();
            await().until(() -> granted().equals(Set.of("cert", "db")));

            cluster.stopServing(WEBSITE);
            await().until(() -> granted().isEmpty());
        }
    }

    @Test
    void controllerMayNotListOwners_isSaidOnce_untilItMay(NoLeaks leaks) {
        leaks.allowWarnings("cannot be watched");
        admin.resource(website("front", "db")).create();
        StatusException refused = new StatusException(new StatusBuilder()
                .withCode(403)
                .withReason("Forbidden")
                .withMessage("no rule")
                .build());
        server.faults().fail(refused, RequestPattern.any().verb(Verb.LIST).resource(websites));
        server.faults().fail(refused, RequestPattern.any().verb(Verb.WATCH).resource(websites));
        try (Grants grants = grants(controller).start()) {
            await().until(() -> !leaks.warnings().isEmpty());

            assertThat(grants.isLeading()).isTrue();
            assertThat(leaks.warnings())
                    .singleElement()
                    .asString()
                    .contains("websites of namespace shop cannot be watched", "no rule", "--print-rbac");
            assertThat(granted()).isEmpty();
            server.faults().clear();
            await().until(() -> granted().contains("db"));
        }
    }

    @Test
    void ownersThatCannotBeRead_areWarnedOf(NoLeaks leaks) {
        leaks.allowWarnings("cannot be watched");
        StatusException broken = new StatusException(new StatusBuilder()
                .withCode(400)
                .withReason("BadRequest")
                .withMessage("a conversion failed")
                .build());
        server.faults().fail(broken, RequestPattern.any().verb(Verb.LIST).resource(websites));
        try (Grants grants = grants(controller).start()) {
            await().until(() -> leaks.warnings().stream()
                    .anyMatch(warning -> warning.contains("websites of namespace shop cannot be watched")
                            && warning.contains("a conversion failed")
                            && !warning.contains("--print-rbac")));
            assertThat(grants.isLeading()).isTrue();
        }
    }

    @Test
    void kindThatIsNotServed_isWarnedOf(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("does not serve");
        Files.writeString(
                policy,
                Files.readString(policy).replace("example.dev/v1", "apps/v1").replace("Website", "Deploymnet"));
        try (Grants grants = grants(admin).start()) {
            await().until(() -> leaks.warnings().stream()
                    .anyMatch(warning ->
                            warning.contains("does not serve Deploymnet of apps/v1") && warning.contains("line 9")));
            assertThat(grants.isLeading()).isTrue();
        }
    }

    /** The clock of who removes may not be that of who keeps the Roles. */
    @Test
    void removal_whileALeaderWithAnotherClockRenews_findsHim() {
        admin.resource(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace("default")
                        .withName("podcache-grants-orders")
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity("a leader")
                        .withLeaseDurationSeconds(1)
                        .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC).minusHours(1))
                        .endSpec()
                        .build())
                .create();
        RolePolicy orders = GrantPolicy.read(policy).roles().get(0);
        try (Fabric8ApiServer api =
                Fabric8ApiServer.of(config(server.kubeconfigFor("admin", "system:masters")), RequestLimit.UNLIMITED)) {
            RoleRemoval removal = new RoleRemoval(api);
            assertThat(removal.leader(orders, "default"))
                    .as("he does not renew it")
                    .isEmpty();

            admin.leases()
                    .inNamespace("default")
                    .withName("podcache-grants-orders")
                    .edit(before -> new LeaseBuilder(before)
                            .editSpec()
                            .withLeaseDurationSeconds(120)
                            .endSpec()
                            .build());
            int reads = server.requests().of(Verb.GET, Resource.LEASES);
            CompletableFuture<Optional<String>> asked =
                    CompletableFuture.supplyAsync(() -> removal.leader(orders, "default"), NewThread.EACH);
            await().until(() -> server.requests().of(Verb.GET, Resource.LEASES) > reads + 1);
            admin.leases()
                    .inNamespace("default")
                    .withName("podcache-grants-orders")
                    .edit(before -> new LeaseBuilder(before)
                            .editSpec()
                            .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC).minusMinutes(59))
                            .endSpec()
                            .build());

            assertThat(asked.join()).contains("a leader");
        }
    }

    @Test
    void leaderWithoutServer_isFollowed_andWritesNothingAfterItsLease(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        admin.resource(website("front", "db")).create();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                KubernetesClient cut = new KubernetesClientBuilder()
                        .withConfig(config(
                                server.kubeconfigFor("controller").replace(":" + server.port(), ":" + proxy.port())))
                        .build();
                Grants first = grants(cut).leaseDuration(Duration.ofSeconds(6)).start()) {
            await().until(() -> reads(operator, "db"));
            try (Grants second =
                    grants(controller).leaseDuration(Duration.ofSeconds(6)).start()) {
                proxy.freeze();
                proxy.freezeNew();
                await().until(second::isLeading);
                // that both never lead at once is shown on hand-driven time
                await().until(() -> !first.isLeading());

                admin.resource(website("back", "cert")).create();
                await().until(() -> reads(operator, "cert"));
                proxy.thaw();
                admin.resource(website("front")).delete();
                await().until(() -> !reads(operator, "db"));
                assertThat(granted()).containsExactly("cert");
            }
        }
    }
}
