package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kinds beyond Secrets and ConfigMaps: custom resources, typed and not, and kinds without namespaces. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class AnyKindRealServerTest {

    /** A custom resource with a model class. */
    @Group("any-kind.example.dev")
    @Version("v1")
    static final class Database extends CustomResource<Map<String, String>, Void> implements Namespaced {}

    private static final ObjectKind<Database> DATABASE = ObjectKind.of(Database.class);
    private static final ObjectKind<GenericKubernetesResource> WIDGET =
            ObjectKind.of("any-kind.example.dev/v1", "Widget", "widgets", false);

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final RealApiServer real = RealApiServer.shared();

    @ParameterizedTest
    @EnumSource(ChangeDetectionStrategy.class)
    @Needs(ServerFeature.CUSTOM_RESOURCES)
    void customResource_withAModel_isReadAndItsChangesAreSeen(ChangeDetectionStrategy strategy) {
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client)
                        .strategy(strategy)
                        .firstSyncTimeout(PATIENCE)
                        .defaultTtl(Duration.ofSeconds(1))
                        .build()) {
            define("Database", "databases", "Namespaced");
            Database orders = database(shop.name(), "orders", "small");
            untilServed(() -> shop.admin().resource(orders).create());
            Manager<Database> databases = cache.objects(DATABASE);
            Referrer owner =
                    Referrer.of(shop.admin().namespaces().withName(shop.name()).get());
            cache.register(owner, Set.of(ObjectRef.of(DATABASE, shop.name(), "orders")));

            assertThat(databases.getObject(shop.name(), "orders").getSpec()).containsEntry("size", "small");

            shop.admin().resource(database(shop.name(), "orders", "large")).update();
            await().until(() -> databases
                    .getObject(shop.name(), "orders")
                    .getSpec()
                    .get("size")
                    .equals("large"));
        }
    }

    @Test
    @Needs(ServerFeature.CUSTOM_RESOURCES)
    void customResourceOfTheCluster_withoutAModel_isRead() {
        try (KubernetesClient admin = real.client();
                KubernetesClient client = real.client();
                Podcache cache =
                        Podcache.builder(client).firstSyncTimeout(PATIENCE).build()) {
            define("Widget", "widgets", "Cluster");
            GenericKubernetesResource widget = new GenericKubernetesResource();
            widget.setApiVersion(WIDGET.apiVersion());
            widget.setKind(WIDGET.name());
            widget.setMetadata(new ObjectMetaBuilder().withName("round").build());
            widget.setAdditionalProperty("spec", Map.of("size", "small"));
            untilServed(() -> admin.resource(widget).create());
            cache.register(
                    Referrer.of(admin.namespaces().withName("default").get()),
                    Set.of(ObjectRef.of(WIDGET, "", "round"), ObjectRef.of(WIDGET, "", "missing")));

            GenericKubernetesResource read = cache.objects(WIDGET).getObject("", "round");

            assertThat(read.getKind()).isEqualTo("Widget");
            assertThat(read.<Object>get("spec", "size")).isEqualTo("small");
            assertThatExceptionOfType(NotFound.class)
                    .isThrownBy(() -> cache.objects(WIDGET).getObject("", "missing"));
        }
    }

    @Test
    void node_isReadByItsNameAlone() {
        try (KubernetesClient admin = real.client();
                KubernetesClient client = real.client();
                Podcache cache =
                        Podcache.builder(client).firstSyncTimeout(PATIENCE).build()) {
            Node node = admin.resource(new NodeBuilder()
                            .withNewMetadata()
                            .withName("any-kind")
                            .endMetadata()
                            .build())
                    .create();
            Referrer owner = Referrer.of(node);
            cache.register(owner, Set.of(ObjectRef.of(ObjectKind.NODE, "", "any-kind")));

            assertThat(cache.objects(ObjectKind.NODE)
                            .getObject("", "any-kind")
                            .getMetadata()
                            .getUid())
                    .isEqualTo(node.getMetadata().getUid());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> cache.objects(ObjectKind.NODE).getObject("shop", "any-kind"))
                    .withMessageContaining("has no namespace");

            cache.unregister(owner);
            assertThatExceptionOfType(NotRegistered.class)
                    .isThrownBy(() -> cache.objects(ObjectKind.NODE).getObject("", "any-kind"));
            admin.resource(node).delete();
        }
    }

    @Test
    @Needs(ServerFeature.CUSTOM_RESOURCES)
    void definition_deletedAndCreatedAgain_recoversByItself(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        ObjectKind<GenericKubernetesResource> gadget =
                ObjectKind.of("any-kind.example.dev/v1", "Gadget", "gadgets", true);
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache =
                        Podcache.builder(client).firstSyncTimeout(PATIENCE).build()) {
            define("Gadget", "gadgets", "Namespaced");
            untilServed(
                    () -> shop.admin().resource(gadget(shop.name(), "first")).create());
            cache.register(
                    Referrer.of(shop.admin().namespaces().withName(shop.name()).get()),
                    Set.of(ObjectRef.of(gadget, shop.name(), "orders")));
            assertThat(size(cache, gadget, shop.name())).isEqualTo("first");

            real.kubectl("delete", "customresourcedefinition", "gadgets.any-kind.example.dev");
            await().until(() -> size(cache, gadget, shop.name()).isEmpty());
            define("Gadget", "gadgets", "Namespaced");
            untilServed(
                    () -> shop.admin().resource(gadget(shop.name(), "second")).create());

            await().until(() -> size(cache, gadget, shop.name()).equals("second"));
        }
    }

    /** Returns the size that the cache says, empty if there is no such object, or none can be known. */
    private static String size(Podcache cache, ObjectKind<GenericKubernetesResource> kind, String namespace) {
        try {
            return cache.objects(kind)
                    .getObject(namespace, "orders")
                    .<Object>get("spec", "size")
                    .toString();
        } catch (ObjectUnavailableException none) {
            return "";
        }
    }

    private static Database database(String namespace, String name, String size) {
        Database database = new Database();
        database.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        database.setSpec(Map.of("size", size));
        return database;
    }

    private static GenericKubernetesResource gadget(String namespace, String size) {
        GenericKubernetesResource gadget = new GenericKubernetesResource();
        gadget.setApiVersion("any-kind.example.dev/v1");
        gadget.setKind("Gadget");
        gadget.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName("orders")
                .build());
        gadget.setAdditionalProperty("spec", Map.of("size", size));
        return gadget;
    }

    /** Creates the definition of a custom resource, unless it is there. */
    private void define(String kind, String plural, String scope) {
        String definition = """
                {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                 "metadata": {"name": "%1$s.any-kind.example.dev"},
                 "spec": {"group": "any-kind.example.dev", "scope": "%3$s",
                   "names": {"kind": "%2$s", "plural": "%1$s", "singular": "%4$s"},
                   "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                     {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
                """.formatted(plural, kind, scope, kind.toLowerCase(Locale.ROOT));
        try (KubernetesClient admin = real.client()) {
            admin.load(new ByteArrayInputStream(definition.getBytes(StandardCharsets.UTF_8)))
                    .resources()
                    .forEach(resource -> resource.createOr(existing -> existing.update()));
        }
    }

    /** Creates an object as soon as the server serves its kind. */
    private static void untilServed(Runnable create) {
        await().ignoreExceptions().until(() -> {
            create.run();
            return true;
        });
    }
}
