package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.EqualsTester;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
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
