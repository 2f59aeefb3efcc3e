package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What reads on behalf of a subject do on an API server with Roles: allowed, revoked in each way there is, and allowed again.
 * A subclass provides the server, and an administrator with a namespace of its own.
 */
@Timeout(180)
public abstract class OnBehalfContract {

    private static final String RBAC = "rbac.authorization.k8s.io";

    /** Half a minute is longer than a loaded machine needs for a few requests, and shorter than any answer counts. */
    private static final Duration SOON = Duration.ofSeconds(30);

    /** What takes a right away, or gives it. */
    protected enum GivenBy {
        ROLE_BINDING,
        ROLE,
        CLUSTER_ROLE,
        GROUP,
        CLUSTER_ROLE_BINDING
    }

    /** Returns a client that may do everything. */
    protected abstract KubernetesClient admin();

    /** Returns the namespace of this test. */
    protected abstract String namespace();

    /** Returns a client of a user without rights. */
    protected abstract KubernetesClient userWithoutRights(String name);

    private Subject web() {
        return Subject.serviceAccount(namespace(), "web");
    }

    private Referrer owner() {
        return ((Referrer) () -> "uid-of-" + namespace()).onBehalfOf(web());
    }

    private void createSecret(String value) {
        admin().resource(Secrets.of(namespace(), "tls", value)).create();
    }

    private GenericKubernetesResource object(String kind, boolean namespaced, Map<String, ?> content) {
        GenericKubernetesResource object = new GenericKubernetesResource();
        object.setApiVersion(RBAC + "/v1");
        object.setKind(kind);
        object.setMetadata(new ObjectMetaBuilder()
                .withName("of-" + namespace())
                .withNamespace(namespaced ? namespace() : null)
                .build());
        content.forEach(object::setAdditionalProperty);
        return object;
    }

    private ResourceDefinitionContext context(GenericKubernetesResource object) {
        return new ResourceDefinitionContext.Builder()
                .withGroup(RBAC)
                .withVersion("v1")
                .withKind(object.getKind())
                .withPlural(object.getKind().toLowerCase(Locale.ROOT) + "s")
                .withNamespaced(object.getMetadata().getNamespace() != null)
                .build();
    }

    private void create(GenericKubernetesResource object) {
        var all = admin().genericKubernetesResources(context(object));
        if (object.getMetadata().getNamespace() == null) {
            all.resource(object).create();
        } else {
            all.inNamespace(namespace()).resource(object).create();
        }
    }

    private void delete(GenericKubernetesResource object) {
        var all = admin().genericKubernetesResources(context(object));
        if (object.getMetadata().getNamespace() == null) {
            all.withName(object.getMetadata().getName()).delete();
        } else {
            all.inNamespace(namespace())
                    .withName(object.getMetadata().getName())
                    .delete();
        }
    }

    /** Replaces the rules of a role. */
    private void replace(GenericKubernetesResource role) {
        delete(role);
        create(role);
    }

    private GenericKubernetesResource role(String kind, String... secrets) {
        return object(
                kind,
                kind.equals("Role"),
                Map.of(
                        "rules",
                        secrets.length == 0
                                ? List.of()
                                : List.of(Map.of(
                                        "apiGroups", List.of(""),
                                        "resources", List.of("secrets"),
                                        "verbs", List.of("get", "list", "watch"),
                                        "resourceNames", List.of(secrets)))));
    }

    private GenericKubernetesResource roleForAllSecrets() {
        return object(
                "Role",
                true,
                Map.of(
                        "rules",
                        List.of(Map.of(
                                "apiGroups", List.of(""),
                                "resources", List.of("secrets"),
                                "verbs", List.of("get", "list", "watch")))));
    }

    private GenericKubernetesResource binding(String kind, String role, Map<String, String> subject) {
        return object(
                kind,
                kind.equals("RoleBinding"),
                Map.of(
                        "roleRef", Map.of("apiGroup", RBAC, "kind", role, "name", "of-" + namespace()),
                        "subjects", List.of(subject)));
    }

    private Map<String, String> webAccount() {
        return Map.of("kind", "ServiceAccount", "name", "web", "namespace", namespace());
    }

    private Map<String, String> group(String name) {
        return Map.of("kind", "Group", "name", name, "apiGroup", RBAC);
    }

    private void grant(GivenBy by) {
        switch (by) {
            case ROLE_BINDING, ROLE -> {
                create(role("Role", "tls"));
                create(binding("RoleBinding", "Role", webAccount()));
            }
            case CLUSTER_ROLE -> {
                create(role("ClusterRole", "tls"));
                create(binding("RoleBinding", "ClusterRole", webAccount()));
            }
            case GROUP -> {
                create(role("Role", "tls"));
                create(binding("RoleBinding", "Role", group("system:serviceaccounts:" + namespace())));
            }
            case CLUSTER_ROLE_BINDING -> {
                create(role("ClusterRole", "tls"));
                create(binding("ClusterRoleBinding", "ClusterRole", webAccount()));
            }
        }
    }

    private void revoke(GivenBy by) {
        switch (by) {
            case ROLE_BINDING, GROUP -> delete(binding("RoleBinding", "Role", webAccount()));
            case ROLE -> replace(role("Role"));
            case CLUSTER_ROLE -> replace(role("ClusterRole"));
            case CLUSTER_ROLE_BINDING -> delete(binding("ClusterRoleBinding", "ClusterRole", webAccount()));
        }
    }

    private void grantAgain(GivenBy by) {
        switch (by) {
            case ROLE_BINDING -> create(binding("RoleBinding", "Role", webAccount()));
            case GROUP -> create(binding("RoleBinding", "Role", group("system:serviceaccounts:" + namespace())));
            case ROLE -> replace(role("Role", "tls"));
            case CLUSTER_ROLE -> replace(role("ClusterRole", "tls"));
            case CLUSTER_ROLE_BINDING -> create(binding("ClusterRoleBinding", "ClusterRole", webAccount()));
        }
    }

    private void cleanUp(GivenBy by) {
        if (by == GivenBy.CLUSTER_ROLE || by == GivenBy.CLUSTER_ROLE_BINDING) {
            delete(role("ClusterRole"));
        }
        if (by == GivenBy.CLUSTER_ROLE_BINDING) {
            delete(binding("ClusterRoleBinding", "ClusterRole", webAccount()));
        }
    }

    /** Returns whether the owner may read; fails if there is another reason. */
    protected final boolean isServed(Podcache cache) {
        try {
            cache.secrets().getObject(owner(), namespace(), "tls");
            return true;
        } catch (Denied e) {
            assertThat(e.subject()).isEqualTo(web());
            return false;
        }
    }

    /** Returns a cache that watches roles, with the owner registered. */
    protected final Podcache register() {
        Podcache cache = Podcache.builder(admin())
                .watchRbac()
                .firstSyncTimeout(Duration.ofSeconds(30))
                .build();
        cache.register(owner(), Set.of(ObjectRef.of(ObjectKind.SECRET, namespace(), "tls")));
        return cache;
    }

    /** Grants, and waits until the owner is served. */
    protected final void allowed(Podcache cache, GivenBy by) {
        grant(by);
        await().until(() -> isServed(cache));
    }

    /** Revokes, and returns how long the owner was served after that. */
    protected final Duration servedAfterRevocation(Podcache cache, GivenBy by) {
        long before = System.nanoTime();
        revoke(by);
        await().pollInterval(Duration.ofMillis(20)).until(() -> !isServed(cache));
        return Duration.ofNanos(System.nanoTime() - before);
    }

    @ParameterizedTest
    @EnumSource
    public void right_thatIsRevokedAndGivenBack_countsSoon(GivenBy by) {
        createSecret("v1");
        try (Podcache cache = register()) {
            assertThat(isServed(cache)).isFalse();
            allowed(cache, by);

            Duration served = servedAfterRevocation(cache, by);
            long before = System.nanoTime();
            grantAgain(by);
            await().until(() -> isServed(cache));

            assertThat(served).isLessThan(SOON);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(SOON);
        } finally {
            cleanUp(by);
        }
    }

    @Test
    public void subjectThatMayNot_isDeniedByAReview_andNobodyElseReadsForIt() {
        createSecret("v1");
        try (Podcache cache = register()) {
            assertThat(isServed(cache)).isFalse();
            assertThat(cache.secrets().peek(namespace(), "tls")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    public void ownWatch_ofWhatWasRevoked_isClosed(WatchScope scope) {
        createSecret("v1");
        String user = "operator-of-" + namespace();
        Map<String, String> operator = Map.of("kind", "User", "name", user, "apiGroup", RBAC);
        create(scope == WatchScope.NAMESPACE ? roleForAllSecrets() : role("Role", "tls"));
        create(binding("RoleBinding", "Role", operator));
        GenericKubernetesResource reads = object(
                "ClusterRole",
                false,
                Map.of(
                        "rules",
                        List.of(Map.of(
                                "apiGroups", List.of(RBAC),
                                "resources", List.of("roles", "rolebindings", "clusterroles", "clusterrolebindings"),
                                "verbs", List.of("list", "watch")))));
        create(reads);
        GenericKubernetesResource readsBinding = binding("ClusterRoleBinding", "ClusterRole", operator);
        create(readsBinding);
        try (KubernetesClient client = userWithoutRights(user);
                Podcache cache = Podcache.builder(client)
                        .scope(ObjectKind.SECRET, scope)
                        .watchRbac()
                        .firstSyncTimeout(Duration.ofSeconds(30))
                        .build()) {
            Referrer plain = () -> "plain";
            cache.register(plain, Set.of(ObjectRef.of(ObjectKind.SECRET, namespace(), "tls")));
            await().ignoreExceptionsInstanceOf(ObjectUnavailableException.class)
                    .until(() -> Secrets.value(cache.secrets().getObject(namespace(), "tls")), "v1"::equals);

            delete(binding("RoleBinding", "Role", operator));

            await().until(() -> cache.secrets().state(namespace(), "tls").cacheState() == CacheState.FORBIDDEN);
            assertThat(cache.secrets().state(namespace(), "tls").freshness())
                    .contains("access was revoked")
                    .contains(
                            scope == WatchScope.NAMESPACE
                                    ? "watch of its namespace was closed"
                                    : "its watch was closed");
            admin().resource(Secrets.of(namespace(), "tls", "v2")).update();
            assertThat(Secrets.value(cache.secrets().getObject(namespace(), "tls")))
                    .isEqualTo("v1");
        } finally {
            delete(reads);
            delete(readsBinding);
        }
    }
}
