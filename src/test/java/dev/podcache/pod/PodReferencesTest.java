package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.testing.NullPointerTester;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import dev.podcache.pod.ReferencePlace.Placed;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ProjectedVolumeSource;
import io.fabric8.kubernetes.api.model.ScaleIOVolumeSource;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Takes over the cases of upstream's {@code TestPodSecrets} and {@code TestPodConfigmaps}. */
@NullUnmarked
class PodReferencesTest {

    @ParameterizedTest
    @EnumSource
    void references_nameInOnePlace_isFoundWithItsUsage(ReferencePlace place) {
        Placed placed = new Placed(place, "wanted");
        Pod pod = ReferencePlace.pod(placed);

        boolean secret = place.kind.equals(ObjectKind.SECRET);
        Set<Reference> found = secret ? PodReferences.secrets(pod) : PodReferences.configMaps(pod);
        Set<Reference> others = secret ? PodReferences.configMaps(pod) : PodReferences.secrets(pod);

        assertThat(found).containsExactly(placed.reference());
        assertThat(others).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void references_emptyName_isSkipped(ReferencePlace place) {
        Pod pod = ReferencePlace.pod(new Placed(place, ""));

        assertThat(PodReferences.secrets(pod)).isEmpty();
        assertThat(PodReferences.configMaps(pod)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void references_nullName_isSkipped(ReferencePlace place) {
        Pod pod = ReferencePlace.pod(new Placed(place, null));

        assertThat(PodReferences.secrets(pod)).isEmpty();
        assertThat(PodReferences.configMaps(pod)).isEmpty();
    }

    @Test
    void secrets_podWithEveryPlace_findsAll() {
        List<Placed> names = Arrays.stream(ReferencePlace.values())
                .map(place -> new Placed(place, place.name()))
                .toList();
        Pod pod = ReferencePlace.pod(names);

        assertThat(PodReferences.secrets(pod))
                .hasSize(18)
                .isEqualTo(ReferencePlace.references(names, ObjectKind.SECRET));
        assertThat(PodReferences.configMaps(pod))
                .hasSize(8)
                .isEqualTo(ReferencePlace.references(names, ObjectKind.CONFIG_MAP));
    }

    @Test
    void secrets_oneObjectUsedInSeveralWays_givesOneReferencePerUsage() {
        Pod pod = ReferencePlace.pod(
                new Placed(ReferencePlace.ENV_SECRET, "db"),
                new Placed(ReferencePlace.SECRET_VOLUME, "db"),
                new Placed(ReferencePlace.INIT_ENV_FROM_SECRET, "db"),
                new Placed(ReferencePlace.PROJECTED_SECRET, "db"),
                new Placed(ReferencePlace.PULL_SECRET, "db"));
        ObjectKey db = ObjectKey.of("shop", "db");

        assertThat(PodReferences.secrets(pod))
                .containsExactlyInAnyOrder(
                        new Reference(db, Usage.PULL), new Reference(db, Usage.ENV), new Reference(db, Usage.VOLUME));
    }

    @Test
    void references_specWithNothingInIt_areNone() {
        Pod pod = pod(new PodSpec());

        assertThat(PodReferences.secrets(pod)).isEmpty();
        assertThat(PodReferences.configMaps(pod)).isEmpty();
    }

    @Test
    void references_everyListNull_areNone() {
        PodSpec spec = new PodSpec();
        spec.setContainers(null);
        spec.setInitContainers(null);
        spec.setEphemeralContainers(null);
        spec.setImagePullSecrets(null);
        spec.setVolumes(null);

        assertThat(PodReferences.secrets(pod(spec))).isEmpty();
        assertThat(PodReferences.configMaps(pod(spec))).isEmpty();
    }

    @Test
    void references_nullAndEmptyElementsInEveryList_doNotHideTheirNeighbours() {
        EnvVar withoutSource = new EnvVar("PLAIN", "value", null);
        EnvVar emptySource = new EnvVar("EMPTY", null, new EnvVarSource());
        Container container = new Container();
        container.setEnv(Arrays.asList(null, withoutSource, emptySource));
        container.setEnvFrom(Arrays.asList(null, new EnvFromSource()));
        Container listless = new Container();
        listless.setEnv(null);
        listless.setEnvFrom(null);
        PodSpec spec = new PodSpec();
        spec.setContainers(Arrays.asList(null, container, listless));
        spec.setInitContainers(Arrays.asList(null, container));
        spec.setEphemeralContainers(Arrays.asList(null, new EphemeralContainer()));
        spec.setImagePullSecrets(Arrays.asList(null, new LocalObjectReference(), new LocalObjectReference("registry")));
        spec.setVolumes(volumes());

        assertThat(PodReferences.secrets(pod(spec)))
                .containsExactly(
                        new Reference(ObjectKey.of("shop", "registry"), Usage.PULL),
                        new Reference(ObjectKey.of("shop", "tls"), Usage.VOLUME));
        assertThat(PodReferences.configMaps(pod(spec))).isEmpty();
    }

    private static List<Volume> volumes() {
        Volume withoutSecretRef = new Volume();
        withoutSecretRef.setScaleIO(new ScaleIOVolumeSource());
        Volume emptyProjection = new Volume();
        emptyProjection.setProjected(projected(Arrays.asList(null, new VolumeProjection())));
        Volume listlessProjection = new Volume();
        listlessProjection.setProjected(projected(null));
        Volume tls = new Volume();
        SecretVolumeSource secret = new SecretVolumeSource();
        secret.setSecretName("tls");
        tls.setSecret(secret);
        return Arrays.asList(null, new Volume(), withoutSecretRef, emptyProjection, listlessProjection, tls);
    }

    private static ProjectedVolumeSource projected(List<VolumeProjection> sources) {
        ProjectedVolumeSource projected = new ProjectedVolumeSource();
        projected.setSources(sources);
        return projected;
    }

    @Test
    void references_podWithoutSpec_isRefusedByName() {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("cart")
                .endMetadata()
                .build();

        assertThatThrownBy(() -> PodReferences.secrets(pod))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("pod shop/cart has no spec: register pods as the API server returned them");
        assertThatThrownBy(() -> PodReferences.configMaps(pod))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("pod shop/cart has no spec: register pods as the API server returned them");
    }

    @Test
    void references_podWithoutMetadata_isRefused() {
        Pod pod = new PodBuilder().withNewSpec().endSpec().build();

        assertThatThrownBy(() -> PodReferences.secrets(pod))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a pod has no metadata: register pods as the API server returned them");
    }

    @Test
    void key_fullIdentity_needsNoSpec() {
        assertThat(PodReferences.key(identified("shop", "cart", "u-1"))).isEqualTo(PodKey.of("shop", "cart", "u-1"));
    }

    @Test
    void key_podWithoutMetadata_isRefused() {
        assertThatThrownBy(() -> PodReferences.key(new Pod()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a pod has no metadata: register pods as the API server returned them");
    }

    @Test
    void key_missingPart_isNamedWithTheRemedy() {
        assertRefused(identified("shop", null, "u-1"), "a pod has no metadata.name");
        assertRefused(identified("shop", "", "u-1"), "a pod has no metadata.name");
        assertRefused(identified(null, "cart", "u-1"), "pod cart has no metadata.namespace");
        assertRefused(identified("", "cart", "u-1"), "pod cart has no metadata.namespace");
        assertRefused(identified("shop", "cart", null), "pod shop/cart has no metadata.uid");
        assertRefused(identified("shop", "cart", ""), "pod shop/cart has no metadata.uid");
    }

    @Test
    void everyMethod_nullPod_isRefused() {
        new NullPointerTester().testAllPublicStaticMethods(PodReferences.class);
    }

    private static void assertRefused(Pod pod, String what) {
        assertThatThrownBy(() -> PodReferences.key(pod))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(what + ": register pods as the API server returned them");
    }

    private static Pod identified(@Nullable String namespace, @Nullable String name, @Nullable String uid) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withUid(uid)
                .endMetadata()
                .build();
    }

    private static Pod pod(PodSpec spec) {
        return new PodBuilder(identified("shop", "cart", "u-1")).withSpec(spec).build();
    }
}
