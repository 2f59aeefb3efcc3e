package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.NS;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.PLACEMENT;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.configMap;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapProjection;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeFile;
import io.fabric8.kubernetes.api.model.DownwardAPIVolumeFileBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceFieldSelector;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.SecretProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.VolumeProjectionBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of single kinds of volumes; {@link MakePayloadTest} has the common ones. */
@ExtendWith(NoLeaks.class)
class VolumePayloadsTest {

    private final PodConfigFixture f = new PodConfigFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void of_binarySecret_isKeptByteByByte() {
        byte[] bytes = {0, (byte) 0xff, (byte) 0xc3, 0x28, '\n'};
        f.server
                .cluster()
                .create(new SecretBuilder(secret("db", Map.of()))
                        .addToData("key", Base64.getEncoder().encodeToString(bytes))
                        .build());

        VolumeFile file = f.payload(new VolumeBuilder()
                        .withName("v")
                        .withSecret(VolumeParts.secret(0400, List.of(), null, "db"))
                        .build())
                .get("key");

        assertThat(file).isEqualTo(VolumeFile.of(bytes, 0400));
    }

    @Test
    void of_configMapWithBinaryData_hasBothWithAndWithoutItems() {
        f.server
                .cluster()
                .create(new ConfigMapBuilder(configMap("settings", Map.of("text", "a")))
                        .addToBinaryData("blob", "AAEC")
                        .build());
        VolumeFile blob = VolumeFile.of(new byte[] {0, 1, 2}, 0644);

        assertThat(f.payload(configMapVolume("settings", List.of())))
                .containsEntry("blob", blob)
                .containsKey("text");
        assertThat(f.payload(configMapVolume("settings", List.of(VolumeParts.keyToPath("blob", null, "b")))))
                .containsExactly(Map.entry("b", blob));
    }

    @Test
    void of_noDefaultMode_fails() {
        f.server.cluster().create(secret("db", Map.of("a", "b")));
        for (Volume volume : List.of(
                new VolumeBuilder()
                        .withSecret(VolumeParts.secret(null, List.of(), null, "db"))
                        .build(),
                new VolumeBuilder()
                        .withConfigMap(VolumeParts.configMap(null, List.of(), "db", null))
                        .build(),
                new VolumeBuilder()
                        .withProjected(VolumeParts.projected(null, List.of()))
                        .build(),
                new VolumeBuilder()
                        .withDownwardAPI(VolumeParts.downwardApi(null, List.of()))
                        .build())) {
            assertThatThrownBy(() -> f.payload(volume))
                    .isInstanceOf(PodConfigException.class)
                    .hasMessage("no defaultMode used, not even the default value for it");
        }
    }

    @Test
    void of_pathNotInItsShortestForm_isShortened() {
        f.server.cluster().create(configMap("settings", Map.of("a", "b")));

        assertThat(f.payload(configMapVolume("settings", List.of(VolumeParts.keyToPath("a", null, "./x//y/./z")))))
                .containsOnlyKeys("x/y/z");
    }

    @Test
    void of_projectedSources_laterPathWins() {
        f.server.cluster().create(secret("db", Map.of("same", "secret", "s", "1")));
        f.server.cluster().create(configMap("settings", Map.of("same", "config", "c", "2")));

        Map<String, VolumeFile> files = f.payload(projected(ofSecret("db"), ofConfigMap("settings")));

        assertThat(files).containsOnlyKeys("same", "s", "c");
        assertThat(text(files, "same")).isEqualTo("config");
    }

    @Test
    void of_projectedSourcesThatFail_areAllNamedOnce() {
        Volume volume = projected(ofSecret("a"), ofConfigMap("b"), ofSecret("a"));

        assertThatThrownBy(() -> f.payload(volume)).hasMessage("[secret \"a\" not found, configmap \"b\" not found]");
    }

    @Test
    void of_projectedSameFailureTwice_isSaidOnceAndWithoutBrackets() {
        assertThatThrownBy(() -> f.payload(projected(ofSecret("a"), ofSecret("a"))))
                .hasMessage("secret \"a\" not found");
    }

    /** TestCollectDataWithDownwardAPI. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            annotation     | metadata.annotations['a1'] | value1
            labels         | metadata.labels            | key1="value1"~key2="value2"
            annotations    | metadata.annotations       | a1="value1"~a2="value2"
            name_file_name | metadata.name              | podName
            namespace_file | metadata.namespace         | test1
            """)
    void of_downwardApi_isWhatUpstreamWrites(String path, String field, String expected) {
        Map<String, VolumeFile> files = payload(projected(downward(fieldRef(path, field))));

        assertThat(files).containsOnlyKeys(path);
        assertThat(text(files, path)).isEqualTo(expected.replace('~', '\n'));
        assertThat(files.get(path)).hasToString(text(files, path).length() + " bytes, mode 0644");
    }

    /** TestCollectDataWithDownwardAPI, "annotation-error", and fields that only variables support. */
    @Test
    void of_downwardApiItemsThatFail_areAllNamed() {
        Volume volume = projected(
                downward(fieldRef("a", "metadata.annotations['']"), fieldRef("b", "spec.nodeName")), ofSecret("c"));

        assertThatThrownBy(() -> payload(volume))
                .hasMessage(
                        "[invalid key subscript in metadata.annotations: \"\", unsupported fieldPath: spec.nodeName,"
                                + " secret \"c\" not found]");
    }

    @Test
    void of_downwardApiVolume_hasResourcesAndModes() {
        DownwardAPIVolumeFile memory = new DownwardAPIVolumeFileBuilder()
                .withPath("mem")
                .withMode(0400)
                .withResourceFieldRef(new ResourceFieldSelector("main", new Quantity("1Mi"), "limits.memory"))
                .build();
        Volume volume = new VolumeBuilder()
                .withName("v")
                .withDownwardAPI(VolumeParts.downwardApi(0644, List.of(memory)))
                .build();

        assertThat(payload(volume))
                .containsExactly(Map.entry("mem", VolumeFile.of("8192".getBytes(StandardCharsets.UTF_8), 0400)));
    }

    @Test
    void of_downwardApiItemThatRefersToNothing_isNamed() {
        DownwardAPIVolumeFile nothing =
                new DownwardAPIVolumeFileBuilder().withPath("mem").build();

        assertThatThrownBy(() -> f.payload(projected(downward(nothing))))
                .isInstanceOf(PodConfigException.class)
                .hasMessageContaining("file mem of the downward API has neither fieldRef nor resourceFieldRef");
    }

    @Test
    void of_volumeOfAnotherKind_isRefused() {
        Volume volume = new VolumeBuilder()
                .withName("tmp")
                .withNewEmptyDir()
                .endEmptyDir()
                .build();

        assertThat(VolumePayloads.isMadeHere(volume)).isFalse();
        assertThatThrownBy(() -> f.payload(volume))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("volume tmp");
    }

    @Test
    void payloadText_hasNoContent() {
        f.server.cluster().create(secret("db", Map.of("password", NoLeaks.CANARY)));

        assertThat(f.payload(projected(ofSecret("db"))).toString())
                .contains("password")
                .doesNotContain(NoLeaks.CANARY);
    }

    @Test
    void volumeFile_otherBitsThanPermissions_areRefused() {
        assertThatThrownBy(() -> VolumeFile.of(new byte[0], 04755)).hasMessageContaining("is 04755");
    }

    /** In the pod of TestCollectDataWithDownwardAPI. */
    private Map<String, VolumeFile> payload(Volume volume) {
        Container main = new ContainerBuilder().withName("main").build();
        Pod pod = new PodBuilder(PodConfigFixture.pod(NS, main))
                .editMetadata()
                .withName("podName")
                .addToLabels("key2", "value2")
                .addToLabels("key1", "value1")
                .addToAnnotations("a1", "value1")
                .addToAnnotations("a2", "value2")
                .endMetadata()
                .editSpec()
                .withVolumes(volume)
                .endSpec()
                .build();
        return f.payloads().of(f.register(pod), volume, PLACEMENT);
    }

    private static Volume configMapVolume(String name, List<KeyToPath> items) {
        return new VolumeBuilder()
                .withName("v")
                .withConfigMap(VolumeParts.configMap(0644, items, name, null))
                .build();
    }

    private static Volume projected(VolumeProjection... sources) {
        return new VolumeBuilder()
                .withName("v")
                .withProjected(VolumeParts.projected(0644, List.of(sources)))
                .build();
    }

    private static VolumeProjection ofSecret(String name) {
        return new VolumeProjectionBuilder()
                .withSecret(new SecretProjection(List.of(), name, null))
                .build();
    }

    private static VolumeProjection ofConfigMap(String name) {
        return new VolumeProjectionBuilder()
                .withConfigMap(new ConfigMapProjection(List.of(), name, null))
                .build();
    }

    private static VolumeProjection downward(DownwardAPIVolumeFile... items) {
        return new VolumeProjectionBuilder()
                .withNewDownwardAPI()
                .withItems(items)
                .endDownwardAPI()
                .build();
    }

    private static DownwardAPIVolumeFile fieldRef(String path, String field) {
        return new DownwardAPIVolumeFileBuilder()
                .withPath(path)
                .withNewFieldRef(null, field)
                .build();
    }

    private static String text(Map<String, VolumeFile> files, String path) {
        VolumeFile file = Objects.requireNonNull(files.get(path), path);
        return new String(file.bytes(), StandardCharsets.UTF_8);
    }
}
