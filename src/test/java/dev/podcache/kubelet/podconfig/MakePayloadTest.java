package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.configMap;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMapProjection;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.SecretProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.VolumeProjectionBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cases of TestMakePayload of {@code pkg/volume/secret} and {@code configmap}, and of TestCollectDataWithSecret and
 * WithConfigMap of {@code projected}, which are equal; each on an object with the keys {@code foo} and {@code bar}.
 * Then TestPluginOptional, TestPluginOptionalKeys and TestInvalidPath of all three.
 */
@ExtendWith(NoLeaks.class)
class MakePayloadTest {

    private static final KeyToPath UNKNOWN = VolumeParts.keyToPath("zab", null, "path/to/foo.txt");

    private final PodConfigFixture f = new PodConfigFixture();

    @AfterEach
    void close() {
        f.close();
    }

    /** The kind of volume that mounts the object. */
    enum MountSource {
        SECRET,
        CONFIG_MAP,
        PROJECTED_SECRET,
        PROJECTED_CONFIG_MAP;

        Volume volume(String name, List<KeyToPath> items, @Nullable Boolean optional) {
            return switch (this) {
                case SECRET ->
                    new VolumeBuilder()
                            .withName("v")
                            .withSecret(VolumeParts.secret(0644, items, optional, name))
                            .build();
                case CONFIG_MAP ->
                    new VolumeBuilder()
                            .withName("v")
                            .withConfigMap(VolumeParts.configMap(0644, items, name, optional))
                            .build();
                case PROJECTED_SECRET ->
                    projected(new VolumeProjectionBuilder()
                            .withSecret(new SecretProjection(items, name, optional))
                            .build());
                case PROJECTED_CONFIG_MAP ->
                    projected(new VolumeProjectionBuilder()
                            .withConfigMap(new ConfigMapProjection(items, name, optional))
                            .build());
            };
        }

        private static Volume projected(VolumeProjection source) {
            return new VolumeBuilder()
                    .withName("v")
                    .withProjected(VolumeParts.projected(0644, List.of(source)))
                    .build();
        }

        boolean isSecret() {
            return this == SECRET || this == PROJECTED_SECRET;
        }

        String missingKey(String key) {
            return isSecret()
                    ? "references non-existent secret key: " + key
                    : "configmap references non-existent config key: " + key;
        }
    }

    static Stream<Arguments> cases() {
        return Stream.of(MountSource.values()).flatMap(MakePayloadTest::cases);
    }

    private static Stream<Arguments> cases(MountSource source) {
        return Stream.of(
                Arguments.of(source, "no overrides", List.of(), Map.of("foo", "foo 0644", "bar", "bar 0644")),
                Arguments.of(
                        source,
                        "basic 1",
                        List.of(VolumeParts.keyToPath("foo", null, "path/to/foo.txt")),
                        Map.of("path/to/foo.txt", "foo 0644")),
                Arguments.of(
                        source,
                        "subdirs",
                        List.of(VolumeParts.keyToPath("foo", null, "path/to/1/2/3/foo.txt")),
                        Map.of("path/to/1/2/3/foo.txt", "foo 0644")),
                Arguments.of(
                        source,
                        "subdirs 3",
                        List.of(
                                VolumeParts.keyToPath("foo", null, "path/to/1/2/3/foo.txt"),
                                VolumeParts.keyToPath("bar", null, "another/path/to/the/esteemed/bar.bin")),
                        Map.of(
                                "path/to/1/2/3/foo.txt",
                                "foo 0644",
                                "another/path/to/the/esteemed/bar.bin",
                                "bar 0644")),
                Arguments.of(
                        source,
                        "mapping with Mode",
                        List.of(
                                VolumeParts.keyToPath("foo", 0400, "foo.txt"),
                                VolumeParts.keyToPath("bar", 0400, "bar.bin")),
                        Map.of("foo.txt", "foo 0400", "bar.bin", "bar 0400")),
                Arguments.of(
                        source,
                        "mapping with defaultMode",
                        List.of(
                                VolumeParts.keyToPath("foo", null, "foo.txt"),
                                VolumeParts.keyToPath("bar", null, "bar.bin")),
                        Map.of("foo.txt", "foo 0644", "bar.bin", "bar 0644")));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("cases")
    void of_upstreamCase_makesItsFiles(
            MountSource source, String name, List<KeyToPath> items, Map<String, String> expected) {
        create(source);

        assertThat(text(f.payload(source.volume("object", items, null)))).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_nonExistentKey_fails(MountSource source) {
        create(source);

        assertFails(source.volume("object", List.of(UNKNOWN), false), source.missingKey("zab"));
    }

    /** Also TestPluginOptionalKeys. */
    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_optionalNonExistentKey_isLeftOut(MountSource source) {
        create(source);

        assertThat(f.payload(source.volume("object", List.of(UNKNOWN), true))).isEmpty();
    }

    /** TestPluginOptional. */
    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_optionalObjectMissing_isEmpty(MountSource source) {
        assertThat(f.payload(source.volume("object", List.of(), true))).isEmpty();
        assertThat(f.payload(source.volume("object", List.of(UNKNOWN), true))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_requiredObjectMissingThenCreated_failsAndThenSucceeds(MountSource source) {
        Volume volume = source.volume("object", List.of(), null);
        assertFails(volume, (source.isSecret() ? "secret" : "configmap") + " \"object\" not found");

        create(source);

        assertThat(f.payload(volume)).containsOnlyKeys("foo", "bar");
    }

    /** TestInvalidPathSecret and its variants: an item whose key does not exist. */
    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_itemOfMissingKey_fails(MountSource source) {
        create(source);

        assertFails(
                source.volume("object", List.of(VolumeParts.keyToPath("missing", null, "missing")), null),
                source.missingKey("missing"));
    }

    @ParameterizedTest
    @EnumSource(MountSource.class)
    void of_pathOutOfTheVolume_fails(MountSource source) {
        create(source);

        assertFails(
                source.volume("object", List.of(VolumeParts.keyToPath("foo", null, "a/../../etc/passwd")), null),
                "invalid path: must not contain '..': a/../../etc/passwd");
    }

    private void create(MountSource source) {
        Map<String, String> data = ImmutableMap.of("foo", "foo", "bar", "bar");
        f.server.cluster().create(source.isSecret() ? secret("object", data) : configMap("object", data));
    }

    private void assertFails(Volume volume, String message) {
        assertThatThrownBy(() -> f.payload(volume))
                .isInstanceOfSatisfying(
                        PodConfigException.class,
                        failure -> assertThat(failure.volume()).contains("v"))
                .hasMessage(message);
    }

    /** Returns the content and mode of each file as text. */
    private static Map<String, String> text(Map<String, VolumeFile> files) {
        ImmutableMap.Builder<String, String> text = ImmutableMap.builder();
        files.forEach((path, file) -> text.put(
                path, new String(file.bytes(), StandardCharsets.UTF_8) + " 0" + Integer.toOctalString(file.mode())));
        return text.buildOrThrow();
    }
}
