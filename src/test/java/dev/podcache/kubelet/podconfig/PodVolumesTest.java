package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.NS;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.PLACEMENT;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.configMap;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.VolumeProjectionBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** All volumes of a pod at once, and ServiceAccount tokens in them. */
@ExtendWith(NoLeaks.class)
class PodVolumesTest {

    private final PodConfigFixture f = new PodConfigFixture();
    private final FakeTokenRequests server = new FakeTokenRequests();
    private final VolumePayloads payloads = new VolumePayloads(
            f.secrets, f.configMaps, new ServiceAccountTokens(server, f.timekeeper, () -> 0.0), f.bundles);

    @AfterEach
    void close() {
        f.close();
    }

    /** A missing ConfigMap does not keep the other volumes from being updated. */
    @Test
    void of_oneVolumeFails_othersHaveTheirFiles() {
        f.server.cluster().create(secret("db", Map.of("password", "p")));
        Pod pod = f.register(pod(ofSecret("db"), ofConfigMap("settings"), projected("token", token())));

        PodVolumes volumes = payloads.of(pod, PLACEMENT, volume -> true);

        assertThat(volumes.files()).containsOnlyKeys("db", "token");
        assertThat(volumes.failures()).containsOnlyKeys("settings");
        assertThat(volumes.failures().get("settings"))
                .hasMessage("configmap \"settings\" not found")
                .satisfies(e -> assertThat(e.volume()).contains("settings"));
    }

    @Test
    void of_volumesOfOtherTypes_areTheRuntimesOrFailWithTheirType() {
        Pod pod = f.register(pod(
                new VolumeBuilder()
                        .withName("share")
                        .withNewNfs()
                        .withPath("/x")
                        .endNfs()
                        .build(),
                new VolumeBuilder()
                        .withName("claim")
                        .withNewPersistentVolumeClaim("c", false)
                        .build(),
                new VolumeBuilder().withName("tmp").build()));

        PodVolumes none = payloads.of(
                pod,
                PLACEMENT,
                volume -> volume.getNfs() == null && volume.getName().equals("tmp"));

        assertThat(none.files()).isEmpty();
        assertThat(none.failures().get("share")).hasMessage("volumes of type nfs are not supported on this node");
        assertThat(none.failures().get("claim"))
                .hasMessage("volumes of type persistentVolumeClaim are not supported on this node");
        assertThat(none.failures()).hasSize(2);
        assertThat(payloads.of(pod, PLACEMENT, volume -> true).failures()).isEmpty();
    }

    /** The volume that the admission plugin adds to nearly every pod. */
    @Test
    void of_token_isAFileOfTheVolume() {
        f.server.cluster().create(configMap("kube-root-ca.crt", Map.of("ca.crt", "PEM")));
        VolumeProjection root = new VolumeProjectionBuilder()
                .withNewConfigMap()
                .withName("kube-root-ca.crt")
                .endConfigMap()
                .build();
        Volume volume = projected("kube-api-access", token(), root);

        Map<String, VolumeFile> files = payloads.of(f.register(pod(volume)), volume, PLACEMENT);

        assertThat(files.keySet()).containsExactly("token", "ca.crt");
        assertThat(files.get("token")).isEqualTo(VolumeFile.of("token-1".getBytes(StandardCharsets.UTF_8), 0644));
    }

    @Test
    void of_tokenUnavailable_isNamedWithTheOtherFailures() {
        server.failure = FailureReason.FORBIDDEN;
        VolumeProjection missing = new VolumeProjectionBuilder()
                .withNewSecret()
                .withName("db")
                .endSecret()
                .build();
        Volume volume = projected("v", token(), missing);

        assertThatThrownBy(() -> payloads.of(f.register(pod(volume)), volume, PLACEMENT))
                .hasMessageStartingWith("[failed to fetch token: ")
                .hasMessageContaining("permission to create serviceaccounts/token in namespace test1")
                .hasMessageEndingWith(", secret \"db\" not found]");
    }

    @Test
    void of_tokenOfPodWithFsGroup_isReadableByItsOwnerOnly() {
        assertThat(tokenFile(new PodSecurityContextBuilder().withFsGroup(2000L).build(), null, null))
                .isEqualTo(file(0600));
    }

    /** TestFsUserFrom of upstream's pkg/volume/util. */
    @Test
    void of_tokenOfPodWhoseContainersRunAsOneUser_belongsToThatUser() {
        PodSecurityContext of1000 =
                new PodSecurityContextBuilder().withRunAsUser(1000L).build();

        assertThat(tokenFile(of1000, null, null)).isEqualTo(file(0600).ownedBy(1000));
        assertThat(tokenFile(null, 1000L, 1000L)).isEqualTo(file(0600).ownedBy(1000));
        assertThat(tokenFile(of1000, 1001L, 1001L)).isEqualTo(file(0600).ownedBy(1001));
        assertThat(tokenFile(of1000, 1001L, null)).isEqualTo(file(0644));
        assertThat(tokenFile(null, 1000L, 1001L)).isEqualTo(file(0644));
        assertThat(tokenFile(null, 1000L, null)).isEqualTo(file(0644));
    }

    @Test
    void of_unsupportedSources_areNamed() {
        VolumeProjection certificate = new VolumeProjectionBuilder()
                .withNewPodCertificate()
                .withKeyType("ED25519")
                .endPodCertificate()
                .build();
        Volume volume = projected("v", certificate);

        assertThatThrownBy(() -> payloads.of(f.register(pod(volume)), volume, PLACEMENT))
                .hasMessageContaining("unsupported source podCertificate of a projected volume");
    }

    @Test
    void text_hasNoContent() {
        server.prefix = NoLeaks.CANARY;
        Pod pod = f.register(pod(projected("v", token())));

        assertThat(payloads.of(pod, PLACEMENT, volume -> true).toString())
                .contains("token")
                .doesNotContain(NoLeaks.CANARY);
    }

    private VolumeFile tokenFile(@Nullable PodSecurityContext context, @Nullable Long first, @Nullable Long second) {
        Volume volume = projected("v", token());
        Pod pod = new PodBuilder(pod(volume))
                .editSpec()
                .withSecurityContext(context)
                .withInitContainers(runAs(first))
                .withContainers(runAs(second))
                .endSpec()
                .build();
        return Objects.requireNonNull(
                payloads.of(f.register(pod), volume, PLACEMENT).get("token"));
    }

    private static Container runAs(@Nullable Long user) {
        return new ContainerBuilder()
                .withName("c")
                .withNewSecurityContext()
                .withRunAsUser(user)
                .endSecurityContext()
                .build();
    }

    private static VolumeFile file(int mode) {
        return VolumeFile.of("token-1".getBytes(StandardCharsets.UTF_8), mode);
    }

    private static Pod pod(Volume... volumes) {
        return new PodBuilder(PodConfigFixture.pod(NS, new Container()))
                .editSpec()
                .withVolumes(volumes)
                .endSpec()
                .build();
    }

    private static Volume ofSecret(String name) {
        return new VolumeBuilder()
                .withName(name)
                .withNewSecret()
                .withDefaultMode(0644)
                .withSecretName(name)
                .endSecret()
                .build();
    }

    private static Volume ofConfigMap(String name) {
        return new VolumeBuilder()
                .withName(name)
                .withNewConfigMap()
                .withDefaultMode(0644)
                .withName(name)
                .endConfigMap()
                .build();
    }

    private static Volume projected(String name, VolumeProjection... sources) {
        return new VolumeBuilder()
                .withName(name)
                .withNewProjected()
                .withDefaultMode(0644)
                .withSources(List.of(sources))
                .endProjected()
                .build();
    }

    private static VolumeProjection token() {
        return new VolumeProjectionBuilder()
                .withNewServiceAccountToken()
                .withExpirationSeconds(3607L)
                .withPath("token")
                .endServiceAccountToken()
                .build();
    }
}
