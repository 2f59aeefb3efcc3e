package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever links a container makes, the subPath of a volume that it may write stays in the volume, and none is refused that does. */
class SubPathProperties {

    @Property(tries = 200)
    void pathIsInTheVolume_andNothingIsCreatedOutside(
            @ForAll("links") List<String> links, @ForAll("paths") List<String> subPaths) throws IOException {
        Path temp = Files.createTempDirectory("subpath");
        try {
            Path volume = Files.createDirectory(temp.resolve("volume"));
            Path outside = Files.createDirectory(temp.resolve("outside"));
            Path apart = Files.createDirectory(temp.resolve("apart"));
            for (int i = 0; i < links.size(); i++) {
                link(volume, "abc".substring(i, i + 1), links.get(i));
            }
            for (String subPath : subPaths) {
                Optional<Path> harmless = harmless(volume, subPath, links.size());
                try {
                    Path path = SubPath.of(volume, mount(subPath), apart);
                    assertThat(path.toRealPath()).startsWith(volume.toRealPath());
                    harmless.ifPresent(expected -> assertThat(path).isEqualTo(expected));
                } catch (IOException refused) {
                    assertThat(harmless)
                            .as("%s is refused: %s", subPath, refused.getMessage())
                            .isEmpty();
                }
            }
            assertThat(outside).isEmptyDirectory();
            assertThat(apart).isEmptyDirectory();
            try (var entries = Files.list(temp)) {
                assertThat(entries).hasSize(3);
            }
        } finally {
            MoreFiles.deleteRecursively(temp, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private static VolumeMountPoint mount(String subPath) {
        return new VolumeMountPoint("data", "/data", subPath, false);
    }

    /** What a subPath leads to that no container can misuse, and that must be allowed; empty for the others. */
    private static Optional<Path> harmless(Path volume, String subPath, int links) throws IOException {
        List<String> names = Arrays.stream(subPath.split("/"))
                .filter(name -> !name.isEmpty() && !name.equals("."))
                .toList();
        if (names.contains("..")) {
            return Optional.empty();
        }
        Path real = volume.toRealPath();
        boolean linked = !names.isEmpty() && "abc".substring(0, links).contains(names.get(0));
        if (!linked) {
            return Optional.of(real.resolve(String.join("/", names)));
        }
        Path named = real.resolve(String.join("/", names));
        return Files.exists(named) && named.toRealPath().startsWith(real)
                ? Optional.of(named.toRealPath())
                : Optional.empty();
    }

    private static void link(Path volume, String name, String target) throws IOException {
        Files.createSymbolicLink(volume.resolve(name), Path.of(target));
    }

    @Provide
    Arbitrary<List<String>> links() {
        return Arbitraries.of(
                        "..", "../outside", "/", "a", "b", "c", "d", "./d/../..", "../volume", "../outside/new", "d/a")
                .list()
                .ofMaxSize(3);
    }

    @Provide
    Arbitrary<List<String>> paths() {
        return Arbitraries.of("a", "b", "c", "d", "..", ".", "")
                .list()
                .ofMinSize(1)
                .ofMaxSize(4)
                .map(names -> String.join("/", names))
                .list()
                .ofMinSize(1)
                .ofMaxSize(5);
    }
}
