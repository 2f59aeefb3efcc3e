package dev.podcache.embedded;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RawApi.Reply;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The embedded server with Roles: what a test can order, beyond what a kube-apiserver does. Time is driven by hand. */
@ExtendWith(NoLeaks.class)
class EmbeddedAccessTest {

    private static final String SECRETS = "/api/v1/namespaces/shop/secrets";
    private static final String REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    private static final String REVIEW = """
            {"spec":{"user":"jane","groups":["system:authenticated"],
             "resourceAttributes":{"namespace":"shop","verb":"get","resource":"secrets","name":"db"}}}""";

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final InMemoryCluster cluster = InMemoryCluster.create(time);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();

    @AfterEach
    void stop() {
        server.close();
        cluster.close();
    }

    @Test
    void reviewsOfWhoSomebodyIs_knowTheTokensOfThisServer_untilTheirTimeIsOver() throws Exception {
        String token = server.tokenFor("jane", "devs");
        RawApi jane = RawApi.of(server.url()).with("Authorization", "Bearer " + token);
        RawApi admin = RawApi.of(server.urlFor("admin", "system:masters"));

        Reply own = jane.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
        Reply review =
                admin.post("/apis/authentication.k8s.io/v1/tokenreviews", "{\"spec\":{\"token\":\"" + token + "\"}}");

        assertThat(own.code()).isEqualTo(201);
        assertThat(own.text("/status/userInfo/username")).isEqualTo("jane");
        assertThat(own.body().at("/status/userInfo/groups").toString())
                .isEqualTo("[\"devs\",\"system:authenticated\"]");
        assertThat(review.body().at("/status/authenticated").asBoolean()).isTrue();
        assertThat(review.body().at("/status/user")).isEqualTo(own.body().at("/status/userInfo"));

        String bound = admin.post(
                        "/api/v1/namespaces/shop/serviceaccounts/web/token", "{\"spec\":{\"expirationSeconds\":600}}")
                .text("/status/token");
        time.advance(Duration.ofSeconds(600));
        assertThat(admin.post("/apis/authentication.k8s.io/v1/tokenreviews", "{\"spec\":{\"token\":\"" + bound + "\"}}")
                        .text("/status/error"))
                .isEqualTo("invalid bearer token");
    }

    // The authorizer that lags

    @Test
    void lag_aGrantAndItsRevocation_countThatMuchLater() throws Exception {
        server.authorizerLag(Duration.ofSeconds(3));
        allow("jane", "get");

        assertThat(get(server, "jane")).isEqualTo(403);
        time.advance(Duration.ofMillis(2_999));
        assertThat(get(server, "jane")).isEqualTo(403);
        assertThat(review(server)).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(get(server, "jane")).isEqualTo(404);
        assertThat(review(server)).isTrue();

        cluster.delete(binding("jane"));
        time.advance(Duration.ofMillis(2_999));
        assertThat(get(server, "jane")).isEqualTo(404);
        time.advance(Duration.ofMillis(1));
        assertThat(get(server, "jane")).isEqualTo(403);
        assertThat(review(server)).isFalse();
    }

    @Test
    void lag_severalChangesOfARole_countOneAfterTheOther() throws Exception {
        allow("jane", "list");
        server.authorizerLag(Duration.ofSeconds(10));
        cluster.update(role("jane", "get"));
        time.advance(Duration.ofSeconds(5));
        cluster.update(role("jane", "list"));

        assertThat(get(server, "jane")).isEqualTo(403);
        time.advance(Duration.ofSeconds(5));
        assertThat(get(server, "jane")).isEqualTo(404);
        time.advance(Duration.ofSeconds(5));
        assertThat(get(server, "jane")).isEqualTo(403);
    }

    @Test
    void lag_thatGrows_takesNothingBack_andThatShrinks_letsItCatchUp() throws Exception {
        allow("jane", "get");
        server.authorizerLag(Duration.ofHours(1));
        assertThat(get(server, "jane")).isEqualTo(404);

        cluster.delete(binding("jane"));
        assertThat(get(server, "jane")).isEqualTo(404);
        server.authorizerLag(Duration.ZERO);
        assertThat(get(server, "jane")).isEqualTo(403);
    }

    @Test
    void lag_ofOneOfTwoServers_doesNotDelayTheOther() throws Exception {
        try (EmbeddedApiServer other = EmbeddedApiServer.builder(cluster).rbac().start()) {
            other.authorizerLag(Duration.ofSeconds(3));
            allow("jane", "get");

            assertThat(get(server, "jane")).isEqualTo(404);
            assertThat(get(other, "jane")).isEqualTo(403);
            time.advance(Duration.ofSeconds(3));
            assertThat(get(other, "jane")).isEqualTo(404);
        }
    }

    /** Escalation is decided by the same authorizer. */
    @Test
    void lag_escalation_isDecidedByTheOldRights() throws Exception {
        server.authorizerLag(Duration.ofSeconds(3));
        cluster.create(role("mine", "get"));
        cluster.create(new RoleBuilder(role("jane", "get"))
                .addToRules(rule("rbac.authorization.k8s.io", "roles", "patch", "escalate"))
                .build());
        cluster.create(binding("jane"));
        String path = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/mine";
        String patch = "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"delete\"]}]}";

        assertThat(patch(path, patch).code()).isEqualTo(403);
        time.advance(Duration.ofSeconds(3));
        assertThat(patch(path, patch).code()).isEqualTo(200);
    }

    @Test
    void lag_negativeOrWithoutAuthorizer_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> server.authorizerLag(Duration.ofSeconds(-1)))
                .withMessageContaining("PT-1S");
        try (EmbeddedApiServer open = EmbeddedApiServer.start(cluster)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> open.authorizerLag(Duration.ZERO))
                    .withMessageContaining("builder(cluster).rbac()");
        }
    }

    // Who sends a request

    @Test
    void token_withoutAny_isTheAnonymous() throws Exception {
        RawApi nobody = RawApi.of(server.url());

        assertThat(nobody.get(SECRETS).text("/message"))
                .startsWith("secrets is forbidden: User \"system:anonymous\" cannot list");
        assertThat(nobody.get("/healthz").code()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "a.b.c", "..", "e30.e30.", "!.!.", "e30.bm90IGpzb24."})
    void token_thatNamesNobody_isNotAuthorized(String token) throws Exception {
        Reply reply =
                RawApi.of(server.url()).with("Authorization", "Bearer " + token).get(SECRETS);

        assertThat(reply.code() + " " + reply.text("/reason")).isEqualTo("401 Unauthorized");
    }

    @Test
    void token_ofAServiceAccount_isThatAccountUntilItEnds() throws Exception {
        allow("system:serviceaccount:shop:web", "get");
        Reply issued = as(server, "admin", "system:masters")
                .post("/api/v1/namespaces/shop/serviceaccounts/web/token", "{\"spec\":{\"expirationSeconds\":600}}");
        RawApi web = RawApi.of(server.url()).with("Authorization", "Bearer " + issued.text("/status/token"));

        assertThat(issued.code()).isEqualTo(201);
        assertThat(web.get(SECRETS + "/db").code()).isEqualTo(404);
        assertThat(web.get(SECRETS).text("/message"))
                .startsWith("secrets is forbidden: User \"system:serviceaccount:shop:web\" cannot list");
        time.advance(Duration.ofSeconds(600));
        assertThat(web.get(SECRETS + "/db").code()).isEqualTo(401);
    }

    @Test
    void urlFor_aUser_isThatUser_alsoInDiscoveryAndWatches() throws Exception {
        allow("jane", "get");
        RawApi jane = RawApi.of(server.urlFor("jane", "staff"));

        assertThat(jane.get(SECRETS + "/db").code()).isEqualTo(404);
        assertThat(jane.get("/api/v1").text("/kind")).isEqualTo("APIResourceList");
        assertThat(jane.get(SECRETS + "?watch=1").text("/message")).contains("User \"jane\" cannot watch");
        assertThat(jane.post(
                                "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                "{\"spec\":{\"namespace\":\"shop\"}}")
                        .code())
                .isEqualTo(201);
        assertThat(RawApi.of(server.url() + "/as/nonsense").get(SECRETS).code()).isEqualTo(401);
    }

    @Test
    void kubeconfigFor_aUser_makesFabric8sClientThatUser() {
        allow("jane", "get");
        cluster.create(Secrets.of("shop", "db", "v1"));
        cluster.create(Secrets.of("shop", "other", "v1"));
        try (KubernetesClient jane = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(server.kubeconfigFor("jane")))
                .build()) {
            assertThat(jane.secrets().inNamespace("shop").withName("db").get()).isNotNull();
            assertThatExceptionOfType(KubernetesClientException.class)
                    .isThrownBy(() ->
                            jane.secrets().inNamespace("shop").withName("other").get())
                    .withMessageContaining("User \"jane\" cannot get resource \"secrets\"");
        }
    }

    @Test
    void cache_withARoleForOneSecret_readsThatOne_andIsRefusedAnother(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        allow("jane", "get", "list", "watch");
        cluster.create(Secrets.of("shop", "db", "v1"));
        cluster.create(Secrets.of("shop", "other", "v1"));
        Namespace owner = cluster.get(Namespace.class, "", "shop");
        for (Config config : new Config[] {
            new ConfigBuilder(Config.empty())
                    .withMasterUrl(server.url())
                    .withOauthToken(server.tokenFor("jane"))
                    .build(),
            Config.fromKubeconfig(server.kubeconfigFor("jane"))
        }) {
            try (KubernetesClient jane =
                            new KubernetesClientBuilder().withConfig(config).build();
                    Podcache cache = Podcache.builder(jane)
                            .firstSyncTimeout(Duration.ofSeconds(20))
                            .build()) {
                cache.register(
                        Referrer.of(owner),
                        Set.of(
                                ObjectRef.of(ObjectKind.SECRET, "shop", "db"),
                                ObjectRef.of(ObjectKind.SECRET, "shop", "other")));

                assertThat(Secrets.value(cache.secrets().getObject("shop", "db")))
                        .isEqualTo("v1");
                await().until(() -> cache.secrets().state("shop", "other").lastFailure() != null);
                assertThat(cache.secrets().state("shop", "other").lastFailure())
                        .hasMessageContaining("User \"jane\" cannot list resource \"secrets\"");
            }
        }
    }

    // What a test can order and count

    @Test
    void review_isCounted_andSubjectToFaults() throws Exception {
        RawApi admin = as(server, "admin", "system:masters");
        RequestPattern reviews = RequestPattern.any().resource(Resource.SUBJECT_ACCESS_REVIEWS);
        server.faults().failNext(1, StatusException.tooManyRequests(7), reviews);

        assertThat(admin.post(REVIEWS, REVIEW).code()).isEqualTo(429);
        assertThat(admin.post(REVIEWS, REVIEW).code()).isEqualTo(201);
        assertThat(server.requests().of(Verb.CREATE, Resource.SUBJECT_ACCESS_REVIEWS))
                .isEqualTo(2);
    }

    @Test
    void heldRequest_isDecidedWhereItReads() throws Exception {
        allow("jane", "get");
        HeldRequests early = server.faults().holdNext(1, RequestPattern.any().resource(Resource.SECRETS));
        CompletableFuture<Integer> decidedBefore = later(() -> get(server, "jane"));
        early.awaitArrived();
        HeldRequests late =
                server.faults().holdBeforeReading(RequestPattern.any().resource(Resource.SECRETS));
        CompletableFuture<Integer> decidedAfter = later(() -> get(server, "jane"));
        late.awaitArrived();

        cluster.delete(binding("jane"));
        early.release();
        late.release();

        assertThat(decidedBefore.get(60, TimeUnit.SECONDS)).isEqualTo(404);
        assertThat(decidedAfter.get(60, TimeUnit.SECONDS)).isEqualTo(403);
    }

    @Test
    void withoutRbac_everybodyMayDoEverything_andReviewsSayThat() throws Exception {
        try (EmbeddedApiServer open = EmbeddedApiServer.start(cluster)) {
            RawApi nobody = RawApi.of(open.url());

            assertThat(nobody.get(SECRETS).code()).isEqualTo(200);
            assertThat(nobody.post(REVIEWS, REVIEW).body().at("/status/allowed").asBoolean())
                    .isTrue();
            assertThat(nobody.with("Authorization", "Bearer nonsense")
                            .get(SECRETS)
                            .code())
                    .isEqualTo(200);
        }
    }

    @Test
    void firstRoles_thatATestHasDeleted_areNotNeededByMasters() throws Exception {
        cluster.delete(Resource.CLUSTER_ROLE_BINDINGS, ObjectKey.of("", "cluster-admin"), DeleteOptions.DEFAULT);

        assertThat(as(server, "admin", "system:masters").get(SECRETS).code()).isEqualTo(200);
    }

    @Test
    void close_twoServersOfOneCluster_leavesNothingBehind() {
        EmbeddedApiServer.builder(cluster).rbac().start().close();

        allow("jane", "get");
        assertThat(cluster.openWatches()).isZero();
    }

    // Helpers

    private void allow(String user, String... verbs) {
        cluster.create(role(user, verbs));
        cluster.create(binding(user));
    }

    private static Role role(String user, String... verbs) {
        return new RoleBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(user)
                .endMetadata()
                .addToRules(new PolicyRuleBuilder(rule("", "secrets", verbs))
                        .addToResourceNames("db")
                        .build())
                .build();
    }

    private static PolicyRule rule(String group, String resource, String... verbs) {
        return new PolicyRuleBuilder()
                .addToApiGroups(group)
                .addToResources(resource)
                .addToVerbs(verbs)
                .build();
    }

    private static RoleBinding binding(String user) {
        return new RoleBindingBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(user)
                .endMetadata()
                .withNewRoleRef("", "Role", user)
                .addNewSubject()
                .withKind("User")
                .withName(user)
                .endSubject()
                .build();
    }

    private static RawApi as(EmbeddedApiServer server, String user, String... groups) {
        return RawApi.of(server.url()).with("Authorization", "Bearer " + server.tokenFor(user, groups));
    }

    private static int get(EmbeddedApiServer server, String user) throws IOException, InterruptedException {
        return as(server, user).get(SECRETS + "/db").code();
    }

    private static CompletableFuture<Integer> later(Callable<Integer> call) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return call.call();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                NewThread.EACH);
    }

    private Reply patch(String path, String patch) throws IOException, InterruptedException {
        return as(server, "jane").patch(path, "application/merge-patch+json", patch);
    }

    private static boolean review(EmbeddedApiServer server) throws IOException, InterruptedException {
        return as(server, "admin", "system:masters")
                .post(REVIEWS, REVIEW)
                .body()
                .at("/status/allowed")
                .asBoolean();
    }
}
