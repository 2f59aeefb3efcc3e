package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Endpoints;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ObjectKindTest {

    static List<ObjectKind<?>> kinds() {
        return List.of(
                ObjectKind.SECRET,
                ObjectKind.CONFIG_MAP,
                ObjectKind.POD,
                ObjectKind.NODE,
                ObjectKind.SERVICE,
                ObjectKind.EVENT,
                ObjectKind.LEASE);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void names_everyKind_areThoseOfTheModel(ObjectKind<?> kind) throws ReflectiveOperationException {
        var example = kind.model().getConstructor().newInstance();

        assertThat(kind.name()).isEqualTo(example.getKind());
        assertThat(kind.plural()).isEqualTo(example.getPlural());
        String root = example.getApiVersion().contains("/") ? "/apis/" : "/api/";
        assertThat(kind.collectionPath("")).isEqualTo(root + example.getApiVersion() + "/" + example.getPlural());
        assertThat(kind.namespaced()).isEqualTo(example instanceof Namespaced);
        assertThat(kind).hasToString(example.getKind());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void of_modelOfAKnownKind_isThatKind(ObjectKind<?> kind) {
        assertThat(ObjectKind.of(kind.model())).isSameAs(kind);
    }

    @Test
    void of_otherModel_saysWhatTheModelSays() {
        ObjectKind<Endpoints> kind = ObjectKind.of(Endpoints.class);

        assertThat(kind.path(ObjectKey.of("shop", "web"))).isEqualTo("/api/v1/namespaces/shop/endpoints/web");
        assertThat(kind).hasToString("Endpoints").isEqualTo(ObjectKind.of(Endpoints.class));
    }

    @Test
    void of_modelOfTheCluster_hasNoNamespace() {
        ObjectKind<PersistentVolume> kind = ObjectKind.of(PersistentVolume.class);

        assertThat(kind.namespaced()).isFalse();
        assertThat(kind.path(ObjectKey.of("", "disk"))).isEqualTo("/api/v1/persistentvolumes/disk");
    }

    @Test
    void of_names_areTheParts_ofItsPath() {
        ObjectKind<GenericKubernetesResource> kind = ObjectKind.of("apps/v1", "Deployment", "deployments", true);

        assertThat(kind.path(ObjectKey.of("shop", "web"))).isEqualTo("/apis/apps/v1/namespaces/shop/deployments/web");
    }

    @Test
    void of_names_equalsAKindOfTheSameApiVersionAndPlural() {
        ObjectKind<GenericKubernetesResource> generic = ObjectKind.of("v1", "Secret", "secrets", true);

        assertThat(generic).isEqualTo(ObjectKind.SECRET).hasSameHashCodeAs(ObjectKind.SECRET);
        assertThat(ObjectKind.of("example.dev/v1", "Secret", "secrets", true)).isNotEqualTo(ObjectKind.SECRET);
        assertThat(ObjectKind.of("v1", "Secret", "secretz", true)).isNotEqualTo(ObjectKind.SECRET);
    }

    @Test
    void of_modelWithoutAVersion_isRefusedWithTheRemedy() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ObjectKind.of(GenericKubernetesResource.class))
                .withMessageContaining("ObjectKind.of(apiVersion, kind, plural, namespaced)");
    }

    @ParameterizedTest
    @CsvSource({
        "'', Widget, widgets",
        "a/b/c, Widget, widgets",
        "example.dev/../v1, Widget, widgets",
        "v1, '', widgets",
        "v1, Wid/get, widgets",
        "v1, Widget, ''",
        "v1, Widget, wid/gets",
        "v1, Widget, Widgets"
    })
    void of_namesThatFitInNoUrl_areRefused(String apiVersion, String kind, String plural) {
        assertThatIllegalArgumentException().isThrownBy(() -> ObjectKind.of(apiVersion, kind, plural, true));
    }

    @Test
    void path_namespacedObject_goesThroughItsNamespace() {
        assertThat(ObjectKind.CONFIG_MAP.path(ObjectKey.of("shop", "settings")))
                .isEqualTo("/api/v1/namespaces/shop/configmaps/settings");
    }

    @Test
    void path_objectOfTheCluster_hasNoNamespace() {
        assertThat(ObjectKind.NODE.path(ObjectKey.of("", "worker-1"))).isEqualTo("/api/v1/nodes/worker-1");
    }

    /** As those of ClusterRoles and ClusterTrustBundles. */
    @Test
    void validatedKey_namesThatColonsJoin_areLegalInTheClusterOnly() {
        ObjectKind<?> bundles =
                ObjectKind.of("certificates.k8s.io/v1beta1", "ClusterTrustBundle", "clustertrustbundles", false);

        assertThat(bundles.validatedKey("", "example.com:signer:v1")).hasToString("example.com:signer:v1");
        assertThat(bundles.isLegal(ObjectKey.of("", "example.com:signer:v1"))).isTrue();
        for (String illegal : List.of("", ":", "a:", ":a", "a::b", "A:b", "a/b", "a".repeat(254))) {
            assertThat(bundles.isLegal(ObjectKey.of("", illegal))).as(illegal).isFalse();
            assertThatThrownBy(() -> bundles.validatedKey("", illegal))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("name \"" + illegal.substring(0, Math.min(40, illegal.length())));
        }
        assertThat(ObjectKind.NODE.isLegal(ObjectKey.of("", "a:b"))).isFalse();
        assertThatThrownBy(() -> ObjectKind.NODE.validatedKey("", "a:b")).isInstanceOf(IllegalArgumentException.class);
        assertThat(ObjectKind.SECRET.isLegal(ObjectKey.of("shop", "a:b"))).isFalse();
    }

    @Test
    void collectionPath_oneNamespace_namesIt() {
        assertThat(ObjectKind.SECRET.collectionPath("shop")).isEqualTo("/api/v1/namespaces/shop/secrets");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void isImmutable_objectThatSaysNothing_isNot(ObjectKind<?> kind) throws ReflectiveOperationException {
        assertThat(emptyIsImmutable(kind)).isFalse();
    }

    private static <T extends HasMetadata> boolean emptyIsImmutable(ObjectKind<T> kind)
            throws ReflectiveOperationException {
        return kind.isImmutable(kind.model().getConstructor().newInstance());
    }

    @Test
    void isImmutable_objectThatSaysSo_only() {
        assertThat(ObjectKind.SECRET.isImmutable(
                        new SecretBuilder().withImmutable(true).build()))
                .isTrue();
        assertThat(ObjectKind.SECRET.isImmutable(
                        new SecretBuilder().withImmutable(false).build()))
                .isFalse();
        assertThat(ObjectKind.CONFIG_MAP.isImmutable(
                        new ConfigMapBuilder().withImmutable(true).build()))
                .isTrue();
    }
}
