package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

    @Test
    void path_namespacedObject_goesThroughItsNamespace() {
        assertThat(ObjectKind.CONFIG_MAP.path(ObjectKey.of("shop", "settings")))
                .isEqualTo("/api/v1/namespaces/shop/configmaps/settings");
    }

    @Test
    void path_objectOfTheCluster_hasNoNamespace() {
        assertThat(ObjectKind.NODE.path(ObjectKey.of("", "worker-1"))).isEqualTo("/api/v1/nodes/worker-1");
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
