package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys of Secrets, names of volumes and UIDs that try to leave their directory. */
class HostileNamesTest {

    private static final List<String> PARTS = List.of(
            "..",
            ".",
            "",
            "a",
            "b",
            "..data",
            "..data_tmp",
            "...",
            "..a",
            "a..",
            "~",
            "*",
            "-rf",
            "%2e%2e",
            "\0",
            "\n",
            "\\..",
            "a\0b",
            "gr\u00fc\u00df",
            "\ud800",
            "\udc80",
            "\u202e",
            "x".repeat(255),
            "x".repeat(256),
            "etc",
            "proc");

    @TempDir
    Path temp;

    private Path root = Path.of(".");
    private Path outside = Path.of(".");

    @BeforeEach
    void setUp() throws IOException {
        root = Files.createDirectories(temp.resolve("deep/root"));
        outside = Files.createDirectory(temp.resolve("outside"));
    }

    private static String hostile(Random random) {
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(5); i >= 0; i--) {
            parts.add(PARTS.get(random.nextInt(PARTS.size())));
        }
        return (random.nextInt(8) == 0 ? "/" : "") + String.join("/", parts);
    }

    /** Returns everything below the temporary directory but the volumes. */
    private List<Path> others() throws IOException {
        try (Stream<Path> all = Files.walk(temp)) {
            return all.filter(path -> !path.startsWith(root)).toList();
        }
    }

    @Test
    void keysOfAVolume_stayInIt() throws IOException {
        Random random = new Random(7);
        List<Path> before = others();
        int written = 0;
        for (int i = 0; i < 20_000; i++) {
            String key = hostile(random);
            if (PayloadPaths.problem(key) != null) {
                continue;
            }
            if (i % 10 == 0 && write(key)) {
                written++;
            }
        }
        assertThat(written).isPositive();
        assertThat(others()).isEqualTo(before);
        assertThat(outside).isEmptyDirectory();
    }

    private boolean write(String key) throws IOException {
        Path volume = root.resolve("v");
        byte[] content = {1, 2, 3};
        try {
            new AtomicWriter(volume, new ManualTimekeeper(), FileOwnership.NONE)
                    .write(Map.of(key, VolumeFile.of(content, 0600)));
        } catch (IOException | IllegalArgumentException refused) {
            return false;
        }
        assertThat(volume.resolve(PayloadPaths.cleaned(key))).hasBinaryContent(content);
        return true;
    }

    @Test
    void uidsVolumesAndSubPaths_stayInTheRoot() throws IOException {
        Random random = new Random(8);
        List<Path> before = others();
        VolumeDirectory volumes = new VolumeDirectory(root, new ManualTimekeeper());
        for (int i = 0; i < 1_000; i++) {
            String uid = random.nextBoolean() ? "uid" : hostile(random) + "u";
            String name = random.nextBoolean() ? "data" : hostile(random);
            Pod pod = new PodBuilder(PodConfigFixture.pod("test1", new Container()))
                    .editMetadata()
                    .withUid(uid)
                    .endMetadata()
                    .editSpec()
                    .withVolumes(new VolumeBuilder()
                            .withName(name)
                            .withNewEmptyDir()
                            .endEmptyDir()
                            .build())
                    .endSpec()
                    .build();
            try {
                volumes.mount(pod, Map.of());
                Path path = volumes.path(pod, new VolumeMountPoint(name, "/data", hostile(random), false));
                assertThat(path.toRealPath(LinkOption.NOFOLLOW_LINKS)).startsWith(root.toRealPath());
            } catch (IOException | IllegalArgumentException refused) {
                // as it should be
            }
            try {
                volumes.remove(PodReferences.key(pod));
            } catch (IOException refused) {
                // the name of no directory
            }
            assertThat(root).isDirectory();
        }
        assertThat(others()).isEqualTo(before);
    }
}
