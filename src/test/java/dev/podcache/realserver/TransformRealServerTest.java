package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A user's transform, under each strategy. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class TransformRealServerTest {

    private final RealApiServer real = RealApiServer.shared();

    @ParameterizedTest
    @EnumSource(ChangeDetectionStrategy.class)
    void object_andItsNextVersion_areReadWithoutWhatTheTransformDrops(ChangeDetectionStrategy strategy) {
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client)
                        .strategy(strategy)
                        .firstSyncTimeout(Duration.ofSeconds(20))
                        .defaultTtl(Duration.ofSeconds(1))
                        .transform(ObjectKind.CONFIG_MAP, TransformRealServerTest::withoutDocuments)
                        .build()) {
            shop.admin().resource(settings(shop.name(), "v1")).create();
            Referrer owner =
                    Referrer.of(shop.admin().namespaces().withName(shop.name()).get());
            cache.register(owner, Set.of(ObjectRef.of(ObjectKind.CONFIG_MAP, shop.name(), "settings")));

            assertThat(cache.configMaps().getObject(shop.name(), "settings").getData())
                    .containsExactly(Map.entry("mode", "v1"));

            shop.admin().resource(settings(shop.name(), "v2")).update();
            await().untilAsserted(() -> assertThat(cache.configMaps()
                            .getObject(shop.name(), "settings")
                            .getData())
                    .containsExactly(Map.entry("mode", "v2")));
        }
    }

    private static ConfigMap withoutDocuments(ConfigMap configMap) {
        configMap.getData().remove("document");
        return configMap;
    }

    private static ConfigMap settings(String namespace, String mode) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("settings")
                .endMetadata()
                .addToData("mode", mode)
                .addToData("document", "long")
                .build();
    }
}
