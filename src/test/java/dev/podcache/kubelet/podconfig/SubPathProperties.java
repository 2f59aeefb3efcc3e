package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever links a container makes, the subPath of a volume that it may write stays in the volume. */
class SubPathProperties {

    @Property(tries = 200)
    void pathIsInTheVolume_andNothingIsCreatedOutside(
            @ForAll("links") List<String> links, @ForAll("paths") List<String> subPaths) throws IOException {
        Path temp = Files.createTempDirectory("subpath");
        try {
            Path volume = Files.createDirectory(temp.resolve("volume"));
            Path outside = Files.createDirectory(temp.resolve("outside"));
            for (int i = 0; i < links.size(); i++) {
                link(volume, "abc".substring(i, i + 1), links.get(i));
            }
            for (String subPath : subPaths) {
                try {
                    Path path = SubPath.of(volume, subPath, false);
                    assertThat(path.toRealPath()).startsWith(volume.toRealPath());
                } catch (IOException refused) {
                    // allowed: only a wrong path is not
                }
            }
            assertThat(outside).isEmptyDirectory();
            try (var entries = Files.list(temp)) {
                assertThat(entries).hasSize(2);
            }
        } finally {
            MoreFiles.deleteRecursively(temp, RecursiveDeleteOption.ALLOW_INSECURE);
        }
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
