package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.EqualsTester;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import org.junit.jupiter.api.Test;

class ReferrerTest {

    @Test
    void of_anyObject_isKnownByItsUid() {
        new EqualsTester()
                .addEqualityGroup(Referrer.of(object("settings", "uid-1")), Referrer.of(object("settings", "uid-1")))
                .addEqualityGroup(Referrer.of(object("settings", "uid-2")))
                .testEquals();
        assertThat(Referrer.of(object("settings", "uid-1")).uid()).isEqualTo("uid-1");
        assertThat(Referrer.of(object("settings", "uid-1"))).hasToString("ConfigMap shop/settings(uid-1)");
    }

    @Test
    void of_objectWithoutUid_isRefusedWithItsName() {
        assertThatThrownBy(() -> Referrer.of(object("settings", "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ConfigMap shop/settings")
                .hasMessageContaining("metadata.uid");
        assertThatThrownBy(() -> Referrer.of(object("settings", null))).hasMessageContaining("metadata.uid");
    }

    @Test
    void of_objectWithoutMetadata_isRefused() {
        assertThatThrownBy(() ->
                        Referrer.of(new ConfigMapBuilder().withMetadata(null).build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("metadata");
    }

    @Test
    void of_anyObject_tellsKindNamespaceAndName() {
        Referrer settings = Referrer.of(object("settings", "uid-1"));
        assertThat(settings.kind()).isEqualTo("ConfigMap");
        assertThat(settings.namespace()).isEqualTo("shop");
        assertThat(settings.name()).isEqualTo("settings");

        Referrer node = Referrer.of(new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .withUid("uid-3")
                .endMetadata()
                .build());
        assertThat(node.namespace()).isEmpty();
        assertThat(node).hasToString("Node worker-1(uid-3)");

        assertThat(PodKey.of("shop", "web", "uid-4").kind()).isEqualTo("Pod");
    }

    @Test
    void referrerOfTheUsersOwn_needsOnlyAUid() {
        Referrer own = () -> "uid-5";

        assertThat(own.kind() + own.namespace() + own.name()).isEmpty();
    }

    private static HasMetadata object(String name, @org.jspecify.annotations.Nullable String uid) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid(uid)
                .endMetadata()
                .build();
    }
}
