package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.access.Grants;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A controller of Roles and an operator, on a real server, with identities that have what the program prints for them. */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.CUSTOM_RESOURCES, ServerFeature.VALIDATION})
@ExtendWith(NoLeaks.class)
class GrantsRealServerTest {

    private static final String UNLISTED = "cannot be looked for in namespaces that are not selected";

    private final RealApiServer server = RealApiServer.shared();

    @TempDir
    private Path folder;

    /** What the program prints by default lets nobody list in namespaces that are not selected. */
    @BeforeEach
    void allowTheWarning(NoLeaks leaks) {
        leaks.allowWarnings(UNLISTED);
    }

    private GrantsCluster cluster(String kind, int namespaces) {
        return new GrantsCluster(server, kind, namespaces, "", folder);
    }

    private static void assertForbidden(ThrowingCallable call) {
        assertThatExceptionOfType(KubernetesClientException.class)
                .isThrownBy(call)
                .satisfies(refused -> assertThat(refused.getCode()).isEqualTo(403));
    }

    /** By each verb that reads, and by those that show names. */
    private static void assertNothingOf(KubernetesClient client, String namespace, String secret) {
        Resource<?> named = client.secrets().inNamespace(namespace).withName(secret);
        assertForbidden(named::get);
        assertForbidden(() -> client.secrets()
                .inNamespace(namespace)
                .withField("metadata.name", secret)
                .list());
        assertForbidden(() -> client.secrets()
                .inNamespace(namespace)
                .withField("metadata.name", secret)
                .watch(new Watcher<>() {
                    @Override
                    public void eventReceived(Action action, io.fabric8.kubernetes.api.model.Secret resource) {}

                    @Override
                    public void onClose(WatcherException cause) {}
                })
                .close());
        assertForbidden(() -> client.secrets().inNamespace(namespace).list());
        assertForbidden(() -> client.secrets().inAnyNamespace().list());
        assertForbidden(() -> client.secrets().inNamespace(namespace).delete());
        assertForbidden(named::delete);
        assertForbidden(
                () -> client.resource(Secrets.of(namespace, secret, "v2")).update());
        assertForbidden(
                () -> client.resource(Secrets.of(namespace, "another", "v2")).create());
    }

    @Test
    void references_areGranted_andTakenWithTheLastOwner_andNothingElse() {
        try (GrantsCluster cluster = cluster("Website", 2)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db", "cert", "canary");
            cluster.create(shop, "front", "db");
            cluster.start();

            await().until(() -> cluster.operatorReads(shop, "db"));
            assertThat(cluster.granted(shop)).isEqualTo("db");
            assertNothingOf(cluster.operator, shop, "canary");

            cluster.create(shop, "back", "db", "cert");
            await().until(() -> cluster.operatorReads(shop, "cert"));
            cluster.delete(shop, "front");
            cluster.update(shop, "back", "db");
            cluster.awaitGranted(shop, "db");
            await().until(() -> !cluster.operatorReads(shop, "cert"));
            assertThat(cluster.operatorReads(shop, "db"))
                    .as("still named by the other owner")
                    .isTrue();
            assertNothingOf(cluster.operator, shop, "canary");

            cluster.delete(shop, "back");
            cluster.awaitGranted(shop, "");
            await().until(() -> !cluster.operatorReads(shop, "db"));
            assertNothingOf(cluster.operator, shop, "canary");
            assertThat(cluster.granted(cluster.namespaces.get(1)))
                    .as("a namespace without owners")
                    .isEqualTo("none");
        }
    }

    @Test
    void controller_isRefusedEverySecret_andWhatItHasIsWhatIsPrinted() {
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db");
            cluster.create(shop, "front", "db");
            cluster.start();
            await().until(() -> cluster.operatorReads(shop, "db"));

            assertNothingOf(cluster.controller, shop, "db");
            assertForbidden(() -> cluster.controller
                    .resource(new RoleBuilder()
                            .withNewMetadata()
                            .withNamespace(shop)
                            .withName("another")
                            .endMetadata()
                            .withRules(new PolicyRuleBuilder()
                                    .withApiGroups("")
                                    .withResources("secrets")
                                    .withVerbs("get")
                                    .build())
                            .build())
                    .create());
            assertForbidden(() ->
                    cluster.controller.rbac().roleBindings().inNamespace(shop).list());
            assertForbidden(() -> cluster.controller
                    .rbac()
                    .roles()
                    .inNamespace(shop)
                    .withName(GrantsCluster.ROLE)
                    .delete());
            String rights = server.kubectl("auth", "can-i", "--list", "--namespace=" + shop, "--as=controller-" + shop);
            assertThat(rights)
                    .doesNotContain("secrets")
                    .containsPattern("roles.rbac.authorization.k8s.io\\s+\\[]\\s+\\[podcache-sites]\\s+"
                            + "\\[get list watch patch update escalate]")
                    .containsPattern("websites.grants.example.dev\\s+\\[]\\s+\\[]\\s+\\[list watch]")
                    .containsPattern("pods\\s+\\[]\\s+\\[]\\s+\\[list watch]");
        }
    }

    @Test
    void role_thatSomebodyEditsOrDeletes_isMadeEqualAgain_withAnEvent() {
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db", "canary");
            cluster.create(shop, "front", "db");
            cluster.start();
            cluster.awaitGranted(shop, "db");

            server.kubectl(
                    "--namespace=" + shop,
                    "patch",
                    "role",
                    GrantsCluster.ROLE,
                    "--type=merge",
                    "-p",
                    "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\",\"list\",\"watch\"],"
                            + "\"resourceNames\":[\"canary\"]}]}");
            cluster.awaitGranted(shop, "db");
            await().until(() -> cluster.reasons(shop).contains("Role " + GrantsCluster.ROLE + " RoleRestored"));

            server.kubectl("--namespace=" + shop, "delete", "role", GrantsCluster.ROLE);
            cluster.awaitGranted(shop, "db");
            await().until(() -> !cluster.operatorReads(shop, "canary") && cluster.operatorReads(shop, "db"));
        }
    }

    @Test
    void namespace_takenOutWhileNobodyLeads_losesItsGrants_ifTheRoleMayBeListedEverywhere(NoLeaks leaks) {
        try (GrantsCluster cluster = cluster("Website", 2)) {
            String shop = cluster.namespace();
            String out = cluster.namespaces.get(1);
            cluster.put(out, "db");
            cluster.create(shop, "front", "db");
            cluster.create(out, "front", "db");
            Grants before = cluster.start();
            cluster.awaitGranted(shop, "db");
            cluster.awaitGranted(out, "db");
            before.close();
            cluster.select(List.of(shop));

            Grants without = cluster.start();
            await().until(() -> leaks.warnings().stream().anyMatch(warning -> warning.contains(UNLISTED)));
            without.close();
            assertThat(cluster.granted(out)).as("what could not be found").isEqualTo("db");

            cluster.apply("--cluster-wide");
            cluster.start();
            cluster.awaitGranted(out, "");
            await().until(() -> !cluster.operatorReads(out, "db"));
            assertThat(cluster.granted(shop)).isEqualTo("db");
        }
    }

    @Test
    void storageThatIsRestored_isNoticed_andTheRoleFollowsItsOwnersAgain(NoLeaks leaks) {
        leaks.allowWarnings("the storage of the API server was restored");
        leaks.allowWarnings("cannot be looked up");
        leaks.allowWarnings("failed; retrying");
        // a server that has just started refuses what it has not read yet
        leaks.allowWarnings("cannot be watched");
        leaks.allowWarnings("cannot be written");
        leaks.allowWarnings("could not be acquired");
        try (RealApiServer own = RealApiServer.start();
                GrantsCluster cluster = new GrantsCluster(own, "Website", 1, "", folder)) {
            String shop = cluster.namespace();
            cluster.create(shop, "front", "db");
            cluster.start();
            cluster.awaitGranted(shop, "db");
            own.backUp();
            // more than the server itself writes when it starts
            await().ignoreExceptions()
                    .untilAsserted(() -> cluster.put(
                            shop,
                            IntStream.range(0, 300).mapToObj(i -> "later" + i).toArray(String[]::new)));
            cluster.create(shop, "back", "cert");
            cluster.awaitGranted(shop, "cert,db");

            own.restore();

            await().ignoreExceptions().untilAsserted(() -> {
                assertThat(cluster.referred(shop)).as("what is restored").isEqualTo("db");
                cluster.create(shop, "new", "new");
            });
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(cluster.granted(shop)).isEqualTo("db,new"));
        }
    }

    @Test
    void role_ofSomebodyElse_isNotTakenOver(NoLeaks leaks) {
        leaks.allowWarnings("is left as it is");
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            server.kubectl(
                    "--namespace=" + shop,
                    "create",
                    "role",
                    GrantsCluster.ROLE,
                    "--verb=get,list,watch",
                    "--resource=secrets",
                    "--resource-name=theirs");
            cluster.create(shop, "front", "db");
            cluster.start();

            await().until(() -> cluster.reasons(shop).contains("Role " + GrantsCluster.ROLE + " RoleOfSomebodyElse"));
            assertThat(cluster.granted(shop)).isEqualTo("theirs");

            server.kubectl("--namespace=" + shop, "label", "role", GrantsCluster.ROLE, "podcache.dev/policy=" + shop);
            cluster.awaitGranted(shop, "db");
        }
    }

    @Test
    void leader_thatCloses_isFollowedByAnother_andNobodyLosesAccess() {
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db", "cert");
            cluster.create(shop, "front", "db");
            Grants first = cluster.start();
            cluster.awaitGranted(shop, "db");
            Grants second = cluster.start();
            assertThat(first.isLeading()).isTrue();
            assertThat(second.isLeading()).isFalse();

            first.close();
            cluster.create(shop, "back", "cert");

            await().until(second::isLeading);
            cluster.awaitGranted(shop, "cert,db");
        }
    }

    @Test
    void definition_removedAndRestored_takesAccessAndGivesItBack(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("is not defined; nothing of it is granted");
        try (GrantsCluster cluster = cluster("Shelf", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db");
            cluster.create(shop, "front", "db");
            cluster.start();
            cluster.awaitGranted(shop, "db");

            cluster.removeDefinition();
            cluster.awaitGranted(shop, "");

            cluster.define();
            cluster.create(shop, "front", "db");
            cluster.awaitGranted(shop, "db");
        }
    }

    @Test
    void ownerWithTwentyThousandNames_losesAndIsTold_andHonestOwnersKeepTheirAccess() {
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db", "late");
            cluster.create(shop, "front", "db");
            cluster.start();
            cluster.awaitGranted(shop, "db");

            String[] many = IntStream.range(0, 20_000).mapToObj(i -> "h" + i).toArray(String[]::new);
            cluster.create(shop, "hostile", many);
            cluster.create(shop, "back", "late");

            await().until(() -> cluster.operatorReads(shop, "late"));
            await().until(() ->
                    cluster.reasons(shop).stream().anyMatch(reason -> reason.endsWith("hostile GrantRefused")));
            assertThat(List.of(cluster.granted(shop).split(",")))
                    .hasSize(502)
                    .contains("db", "late", "h0", "h499")
                    .doesNotContain("h500");
        }
    }

    @Test
    void terminatingNamespace_isLeftAlone() {
        try (GrantsCluster cluster = cluster("Website", 2)) {
            String gone = cluster.namespaces.get(1);
            cluster.create(gone, "front", "db");
            // there is no controller that would remove it
            cluster.admin.namespaces().withName(gone).delete();
            cluster.create(cluster.namespace(), "front", "db");

            cluster.start();

            cluster.awaitGranted(cluster.namespace(), "db");
            assertThat(cluster.granted(gone)).isEqualTo("none");
            assertThat(cluster.reasons(gone)).isEmpty();
        }
    }

    @Test
    void onBehalfOf_onlyWhatTheServiceAccountMayGet_isGranted() {
        try (GrantsCluster cluster = new GrantsCluster(
                server, "Website", 1, "onBehalfOf: {serviceAccount: .spec.serviceAccountName}", folder)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db", "canary");
            server.kubectl(
                    "--namespace=" + shop,
                    "create",
                    "role",
                    "web",
                    "--verb=get",
                    "--resource=secrets",
                    "--resource-name=db");
            server.kubectl(
                    "--namespace=" + shop,
                    "create",
                    "rolebinding",
                    "web",
                    "--role=web",
                    "--serviceaccount=" + shop + ":web");
            await().until(() -> server.kubectl(
                            "--namespace=" + shop,
                            "auth",
                            "can-i",
                            "get",
                            "secrets/db",
                            "--as=system:serviceaccount:" + shop + ":web")
                    .startsWith("yes"));
            cluster.start();

            cluster.create(shop, "front", "db", "canary");

            await().until(() -> cluster.operatorReads(shop, "db"));
            await().until(() ->
                    cluster.reasons(shop).stream().anyMatch(reason -> reason.endsWith("front GrantDenied")));
            assertThat(cluster.granted(shop)).isEqualTo("db");
            assertNothingOf(cluster.operator, shop, "canary");

            // what the Role of the policy allows the operator is no right of its own
            server.kubectl(
                    "--namespace=" + shop,
                    "create",
                    "rolebinding",
                    "operator",
                    "--role=" + GrantsCluster.ROLE,
                    "--serviceaccount=" + shop + ":operator");
            GenericKubernetesResource thief = cluster.owner(shop, "thief", List.of("db"));
            thief.setAdditionalProperty("spec", Map.of("secrets", List.of("db"), "serviceAccountName", "operator"));
            cluster.admin.resource(thief).create();
            await().until(() ->
                    cluster.reasons(shop).stream().anyMatch(reason -> reason.endsWith("thief GrantDenied")));
            cluster.delete(shop, "front");
            await().until(() -> cluster.granted(shop).isEmpty());
        }
    }

    @Test
    void program_dryRunWritesNothing_runGrants_removeEmpties() throws Exception {
        try (GrantsCluster cluster = cluster("Website", 1)) {
            String shop = cluster.namespace();
            cluster.put(shop, "db");
            cluster.create(shop, "front", "db", "cert");

            assertThat(cluster.run("--dry-run").out())
                    .containsExactly("Role " + shop + "/podcache-sites would grant: Secret cert, Secret db");
            assertThat(cluster.granted(shop)).isEqualTo("none");
            assertThat(cluster.reasons(shop)).isEmpty();

            Grants grants = cluster.start();
            cluster.awaitGranted(shop, "cert,db");
            assertThat(cluster.run("--remove").errText()).contains("is held by").contains("stop it first");
            grants.close();
            assertThat(cluster.run("--remove").out())
                    .anySatisfy(line -> assertThat(line).contains("emptied").contains(shop + "/" + GrantsCluster.ROLE));
            assertThat(cluster.granted(shop)).isEmpty();
            await().until(() -> !cluster.operatorReads(shop, "db"));
            assertThat(cluster.run("--remove").out())
                    .singleElement()
                    .asString()
                    .isEqualTo("0 Roles grant nothing any more");
            assertThat(cluster.runAs(server.kubeconfigFor("controller-" + shop), "--remove")
                            .out())
                    .hasSize(2)
                    .first()
                    .asString()
                    .contains("only the namespaces that it selects now were looked at", "cannot list", "run this with");
        }
    }
}
