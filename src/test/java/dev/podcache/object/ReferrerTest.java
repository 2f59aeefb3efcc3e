package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.EqualsTester;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
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
    void of_pod_isItsKey_withASubjectToo() {
        Subject web = Subject.serviceAccount("shop", "web");
        PodKey key = PodKey.of("shop", "web-1", "uid-1");
        HasMetadata pod = pod("uid-1");

        new EqualsTester()
                .addEqualityGroup(
                        key,
                        key.onBehalfOf(web),
                        Referrer.of(pod),
                        Referrer.of(pod).onBehalfOf(web),
                        Referrer.of(generic("v1")),
                        Referrer.of(generic("v1")).onBehalfOf(null))
                .addEqualityGroup(PodKey.of("shop", "web-1", "uid-2").onBehalfOf(web))
                .addEqualityGroup(
                        Referrer.of(generic("example.dev/v1")),
                        Referrer.of(generic("example.dev/v1")).onBehalfOf(web))
                .testEquals();
        assertThat(PodKey.ofOwner(Referrer.of(pod).onBehalfOf(web))).isEqualTo(key);
        assertThat(PodKey.ofOwner(Referrer.of(generic("example.dev/v1")))).isNull();
    }

    @Test
    void of_podWithoutUid_isRefusedWithItsName() {
        assertThatThrownBy(() -> Referrer.of(pod("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Pod shop/web-1")
                .hasMessageContaining("metadata.uid");
        assertThatThrownBy(() -> Referrer.of(pod(null))).hasMessageContaining("metadata.uid");
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

    private static HasMetadata pod(@org.jspecify.annotations.Nullable String uid) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web-1")
                .withUid(uid)
                .endMetadata()
                .build();
    }

    /** Returns an object of the kind Pod that has no model class of its own. */
    private static HasMetadata generic(String apiVersion) {
        GenericKubernetesResource object = new GenericKubernetesResource();
        object.setApiVersion(apiVersion);
        object.setKind("Pod");
        object.setMetadata(pod("uid-1").getMetadata());
        return object;
    }
}
