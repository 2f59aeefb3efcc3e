package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Kinds that a cluster is told of. */
class ServedKindsTest extends InMemoryClusterFixture {

    /** A custom resource with a model class. */
    @Group("served.example.dev")
    @Version("v1")
    static final class Orchard extends CustomResource<Map<String, String>, Map<String, String>> implements Namespaced {}

    private static final ObjectKind<Orchard> ORCHARD = ObjectKind.of(Orchard.class);
    private static final ObjectKey OAK = ObjectKey.of("shop", "oak");

    @Test
    void serve_aModel_storesSpecAndStatusApart() {
        cluster.serve(ORCHARD);
        Orchard created = cluster.create(orchard("shop", "oak"));
        created.setSpec(Map.of("size", "2"));
        created.setStatus(Map.of("ready", "yes"));

        Orchard updated = cluster.update(created);
        updated.setStatus(Map.of("ready", "yes"));
        updated.setSpec(Map.of("size", "3"));
        Orchard withStatus = cluster.updateStatus(updated);

        assertThat(created.getMetadata().getGeneration()).isEqualTo(1);
        assertThat(updated.getMetadata().getGeneration()).isEqualTo(2);
        assertThat(withStatus.getMetadata().getGeneration()).isEqualTo(2);
        assertThat(withStatus.getSpec()).containsEntry("size", "2");
        assertThat(cluster.get(Orchard.class, "shop", "oak").getStatus()).containsEntry("ready", "yes");
    }

    @Test
    void serve_aKindWithoutModel_takesGenericObjects() {
        Resource resource = cluster.serve(ObjectKind.of("served.example.dev/v1", "Orchard", "orchards", true));
        GenericKubernetesResource oak = new GenericKubernetesResource();
        oak.setApiVersion("served.example.dev/v1");
        oak.setKind("Orchard");
        oak.setMetadata(
                new ObjectMetaBuilder().withNamespace("shop").withName("oak").build());
        oak.setAdditionalProperty("spec", Map.of("size", "1"));

        GenericKubernetesResource created = cluster.create(oak);

        assertThat(created.<Object>get("spec", "size")).isEqualTo("1");
        assertThat(cluster.get(resource, OAK, "").at("/spec/size").asText()).isEqualTo("1");
        assertThat(resource).isEqualTo(Resource.of(ORCHARD)).hasToString("orchards.served.example.dev");
        assertThat(cluster.requests().snapshot()).containsKey("create orchards.served.example.dev");
        cluster.delete(oak);
        assertRefused(
                () -> cluster.get(resource, OAK, ""), 404, "NotFound", "orchards.served.example.dev \"oak\" not found");
    }

    @Test
    void serve_aKindOfKubernetes_hasAGeneration() {
        cluster.serve(ObjectKind.of(Deployment.class));
        Deployment created = cluster.create(new DeploymentBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .withReplicas(1)
                .endSpec()
                .build());
        created.getSpec().setReplicas(2);

        assertThat(cluster.update(created).getMetadata().getGeneration()).isEqualTo(2);
        assertThat(cluster.get(Deployment.class, "shop", "web").getStatus()).isNull();
    }

    @Test
    void create_ofAKindThatIsNotServed_saysHowToServeIt() {
        GenericKubernetesResource oak = new GenericKubernetesResource();
        oak.setApiVersion("served.example.dev/v1");
        oak.setKind("Orchard");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> cluster.create(orchard("shop", "oak")))
                .withMessageContaining("serve(ObjectKind.of(Orchard.class))");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cluster.create(oak))
                .withMessageContaining("served.example.dev/v1 Orchard")
                .withMessageContaining("serve(ObjectKind)");
    }

    @Test
    void serve_again_keepsTheObjects() {
        cluster.serve(ORCHARD);
        cluster.create(orchard("shop", "oak"));

        assertThat(cluster.serve(ORCHARD)).isEqualTo(Resource.of(ORCHARD));
        assertThat(cluster.get(Orchard.class, "shop", "oak")).isNotNull();
        assertThat(cluster.serve(ObjectKind.SECRET)).isSameAs(Resource.SECRETS);
    }

    @Test
    void stopServing_deletesTheObjects_endsTheWatches_andIsNotFound() {
        Resource resource = cluster.serve(ORCHARD);
        Orchard oak = orchard("shop", "oak");
        oak.getMetadata().setFinalizers(List.of("example.dev/a"));
        cluster.create(oak);
        List<String> seen = new ArrayList<>();
        ClusterWatch watch = cluster.watch(
                resource, Selection.everything(), WatchOptions.from(cluster.resourceVersion()), recorded(seen));

        cluster.stopServing(ORCHARD);
        cluster.stopServing(ORCHARD);
        watch.close();

        assertThat(seen).containsExactly("DELETED", "ended");
        assertThat(cluster.openWatches()).isZero();
        assertThat(cluster.openWatches(resource)).isZero();
        assertRefused(
                () -> cluster.list(resource, Selection.everything(), ""),
                404,
                "NotFound",
                "the server could not find the requested resource");

        cluster.serve(ORCHARD);
        assertThat(cluster.list(resource, Selection.everything(), "").items()).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cluster.stopServing(ObjectKind.SECRET))
                .withMessageContaining("every in-memory cluster serves secrets");
    }

    @Test
    void namespace_withObjectsThatFinalizersKeep_goesWithTheLastOfThem() {
        cluster.serve(ORCHARD);
        cluster.create(secret("a"));
        Orchard oak = orchard("shop", "oak");
        oak.getMetadata().setFinalizers(List.of("example.dev/a"));
        cluster.create(oak);
        cluster.create(new SecretBuilder(secret("a"))
                .editMetadata()
                .withName("kept")
                .addToFinalizers("example.dev/a")
                .endMetadata()
                .build());

        cluster.delete(cluster.get(Namespace.class, "", "shop"));

        assertThat(cluster.get(Namespace.class, "", "shop").getStatus().getPhase())
                .isEqualTo("Terminating");
        assertThatThrownBy(() -> cluster.create(orchard("shop", "elm")))
                .hasMessageContaining("because it is being terminated");
        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), "").items())
                .hasSize(1);
        assertThat(cluster.get(Orchard.class, "shop", "oak").getMetadata().getDeletionTimestamp())
                .isNotNull();

        cluster.update(withoutFinalizers(cluster.get(Orchard.class, "shop", "oak")));
        assertThat(cluster.get(Namespace.class, "", "shop")).isNotNull();
        cluster.update(new SecretBuilder(cluster.get(Secret.class, "shop", "kept"))
                .editMetadata()
                .withFinalizers()
                .endMetadata()
                .build());
        assertRefused(() -> cluster.get(Namespace.class, "", "shop"), 404, "NotFound", "namespaces \"shop\" not found");
        assertThat(cluster.create(orchard("shop", "elm"))).isNotNull();
    }

    @Test
    void namespace_withAFinalizer_goesWhenThatIsRemoved_ifItIsEmpty() {
        Namespace created = cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("late")
                .addToFinalizers("example.dev/a")
                .endMetadata()
                .build());
        cluster.delete(created);
        Namespace ending = cluster.get(Namespace.class, "", "late");
        ending.getMetadata().setFinalizers(List.of());

        cluster.update(ending);

        assertRefused(() -> cluster.get(Namespace.class, "", "late"), 404, "NotFound", "namespaces \"late\" not found");
    }

    @Test
    void page_afterTheHistoryWasForgotten_isGone() {
        cluster.create(secret("a"));
        cluster.create(new SecretBuilder(secret("a"))
                .editMetadata()
                .withName("two")
                .endMetadata()
                .build());
        ObjectList first = cluster.list(Resource.SECRETS, Selection.everything(), ListPage.first("", 1));
        ListPage next = ListPage.of("", 1, first.continueToken());
        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), next).items())
                .hasSize(1);

        cluster.delete(secret("a"));
        cluster.forgetHistory();

        assertThatThrownBy(() -> cluster.list(Resource.SECRETS, Selection.everything(), next))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(410));
    }

    /** The storage may be ahead of the watch cache. */
    @Test
    void page_whileTheWatchCacheIsHeld_hasTheStateOfTheFirst() {
        for (String name : List.of("a", "b", "c")) {
            cluster.create(new SecretBuilder(secret("a"))
                    .editMetadata()
                    .withName(name)
                    .endMetadata()
                    .build());
        }
        ObjectList first = cluster.list(Resource.SECRETS, Selection.everything(), ListPage.first("", 1));
        cluster.holdWatchCache();
        cluster.delete(Resource.SECRETS, ObjectKey.of("shop", "b"), DeleteOptions.DEFAULT);

        ObjectList second =
                cluster.list(Resource.SECRETS, Selection.everything(), ListPage.of("", 0, first.continueToken()));

        assertThat(second.items())
                .extracting(item -> item.at("/metadata/name").asText())
                .containsExactly("b", "c");
    }

    private static Orchard withoutFinalizers(Orchard orchard) {
        orchard.getMetadata().setFinalizers(List.of());
        return orchard;
    }

    private static Orchard orchard(String namespace, String name) {
        Orchard orchard = new Orchard();
        orchard.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        orchard.setSpec(Map.of("size", "1"));
        return orchard;
    }

    private static WatchListener recorded(List<String> seen) {
        return new WatchListener() {
            @Override
            public void event(ClusterEvent event) {
                seen.add(event.type().name());
            }

            @Override
            public void ended() {
                seen.add("ended");
            }
        };
    }
}
