package dev.podcache.store;

import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.Fetched;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class SharedPayloadsTest {

    private static final List<ObjectKey> KEYS = IntStream.range(0, 100)
            .mapToObj(i -> ObjectKey.of("namespace-" + i, "ca"))
            .toList();

    private final StoreOptions options = StoreOptions.defaults(new ManualTimekeeper());
    private int read;

    @Test
    void watch_equalPayloadsOfHundredNamespaces_areOneUntilTheLastReferenceIsGone() {
        storedOnce(new WatchFixture());
    }

    @Test
    void cache_equalPayloadsOfHundredNamespaces_areOneUntilTheLastReferenceIsGone() {
        storedOnce(new TtlFixture());
    }

    /** A transform may set a map that refuses to be asked for null. */
    @Test
    void payloadThatIsAnImmutableMap_isShared() {
        Secret first = new SecretBuilder().withNewMetadata().endMetadata().build();
        first.setData(Map.of("key", "dmFsdWU="));
        Secret second = new SecretBuilder().withNewMetadata().endMetadata().build();
        second.setData(Map.of("key", "dmFsdWU="));
        read(ObjectKind.SECRET, first);
        read(ObjectKind.SECRET, second);

        assertThat(second.getData()).isSameAs(first.getData()).containsEntry("key", "dmFsdWU=");
    }

    /** Has a store read the object, and hold its payload if that can be shared with others of the same options. */
    private <T extends HasMetadata> void read(ObjectKind<T> kind, T object) {
        TtlObjectStore<T> store = new TtlObjectStore<>(
                kind,
                (key, source, timeout) -> CompletableFuture.completedFuture(new Fetched<>(object, "1", 1)),
                FixedTtl.ofSeconds(60),
                options);
        read++;
        ObjectKey key = ObjectKey.of(kind.equals(ObjectKind.NODE) ? "" : "default", "object-" + read);
        store.addReference(key, POD);
        assertThat(store.get(key)).isSameAs(object);
        store.close();
    }

    private static void storedOnce(StoreFixture<?> f) {
        try (f) {
            for (ObjectKey key : KEYS) {
                f.create(key, "the CA");
                f.store.addReference(key, POD);
            }
            WeakReference<Map<String, String>> payload = onlyPayload(f.store);
            KEYS.forEach(key -> f.store.deleteReference(key, POD));

            await().pollInterval(Duration.ofMillis(10)).until(() -> {
                System.gc();
                return payload.get() == null;
            });
        }
    }

    /** In a frame of its own, so that no variable of the test holds it. */
    private static WeakReference<Map<String, String>> onlyPayload(Store<Secret> store) {
        Set<Map<String, String>> instances = Collections.newSetFromMap(new IdentityHashMap<>());
        KEYS.forEach(key -> instances.add(store.get(key.namespace(), key.name()).getData()));
        assertThat(instances).hasSize(1);
        return new WeakReference<>(instances.iterator().next());
    }

    @Test
    void configMaps_shareTextAndBinaries() {
        ConfigMap first = new ConfigMapBuilder()
                .addToData("ca.crt", "the CA")
                .addToBinaryData("a", "AA==")
                .build();
        ConfigMap second = new ConfigMapBuilder(first).build();
        read(ObjectKind.CONFIG_MAP, first);
        read(ObjectKind.CONFIG_MAP, second);

        assertThat(second.getData()).isSameAs(first.getData()).containsExactly(Map.entry("ca.crt", "the CA"));
        assertThat(second.getBinaryData()).isSameAs(first.getBinaryData()).containsExactly(Map.entry("a", "AA=="));
    }

    @Test
    void equalTexts_ofObjectsCreatedTogether_areShared() {
        Secret first = created(copyOf("2026-11-23T03:00:00Z"));
        Secret second = created(copyOf("2026-11-23T03:00:00Z"));
        Secret later = created("2026-11-23T04:00:00Z");
        read(ObjectKind.SECRET, first);
        read(ObjectKind.SECRET, second);
        read(ObjectKind.SECRET, later);

        assertThat(second.getMetadata().getCreationTimestamp())
                .isSameAs(first.getMetadata().getCreationTimestamp())
                .isEqualTo("2026-11-23T03:00:00Z");
        assertThat(later.getMetadata().getCreationTimestamp()).isEqualTo("2026-11-23T04:00:00Z");
        assertThat(second.getKind()).isSameAs(first.getKind()).isEqualTo("Secret");
        assertThat(second.getApiVersion()).isSameAs(first.getApiVersion()).isEqualTo("v1");
    }

    private static String copyOf(String text) {
        return String.valueOf(text.toCharArray());
    }

    private static Secret created(String time) {
        return new SecretBuilder()
                .withKind(copyOf("Secret"))
                .withApiVersion(copyOf("v1"))
                .withNewMetadata()
                .withCreationTimestamp(time)
                .endMetadata()
                .build();
    }

    /** The hashes of "Aa" and "BB" are equal. */
    @Test
    void otherPayloadWithTheSameHash_isNotShared() {
        Secret first = new SecretBuilder().addToData("Aa", "x").build();
        Secret second = new SecretBuilder().addToData("BB", "x").build();
        read(ObjectKind.SECRET, first);
        read(ObjectKind.SECRET, second);

        assertThat(first.getData()).containsOnlyKeys("Aa");
        assertThat(second.getData()).containsOnlyKeys("BB");
    }

    @Test
    void sharedPayload_cannotBeModified() {
        Secret secret = new SecretBuilder().addToData("a", "x").build();
        read(ObjectKind.SECRET, secret);

        assertThatThrownBy(() -> secret.getData().put("b", "y")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void withoutPayload_orWithANullValue_isLeftAsItIs() {
        Map<String, String> withNull = new HashMap<>();
        withNull.put("a", null);
        Secret secret = new SecretBuilder().build();
        secret.setData(withNull);
        ConfigMap configMap = new ConfigMap();
        configMap.setData(null);
        read(ObjectKind.SECRET, secret);
        read(ObjectKind.CONFIG_MAP, configMap);
        read(ObjectKind.NODE, new Node());

        assertThat(secret.getData()).isSameAs(withNull);
        assertThat(configMap.getData()).isNull();
        assertThat(configMap.getBinaryData()).isEmpty();
    }
}
