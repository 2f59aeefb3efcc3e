package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AtomicWriterTest {

    private static final int READS = 41_922;

    @TempDir
    Path temp;

    private Path volume = Path.of(".");
    private AtomicWriter writer = new AtomicWriter(volume, new ManualTimekeeper(), FileOwnership.NONE);

    @BeforeEach
    void setUp() {
        volume = temp.resolve("pods/uid-1/volume");
        writer = new AtomicWriter(volume, new ManualTimekeeper(), FileOwnership.NONE);
    }

    @Test
    void write_first_linksWhatContainersSeeToADatedDirectory() throws IOException {
        assertThat(writer.write(files("user", "shop", "tls/key", "K", "tls/crt", "C")))
                .isTrue();

        assertThat(seen()).isEqualTo(Map.of("user", "shop", "tls/key", "K", "tls/crt", "C"));
        assertThat(Files.readSymbolicLink(volume.resolve("user"))).isEqualTo(Path.of("..data/user"));
        assertThat(Files.readSymbolicLink(volume.resolve("tls"))).isEqualTo(Path.of("..data/tls"));
        assertThat(data()).matches("\\.\\.2026_01_01_00_00_00\\.\\d+");
        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "user", "tls");
    }

    @Test
    void write_unchanged_writesNothing() throws IOException {
        writer.write(files("a/b", "1", "c", "2"));
        String before = data();

        assertThat(writer.write(files("a/b", "1", "c", "2"))).isFalse();
        assertThat(data()).isEqualTo(before);
    }

    @Test
    void write_changedContent_swapsAllAtOnceAndKeepsTheLinks() throws IOException {
        writer.write(files("a", "1", "b", "1"));
        String before = data();
        Object link = Files.getAttribute(volume.resolve("a"), "unix:ino", LinkOption.NOFOLLOW_LINKS);

        assertThat(writer.write(files("a", "2", "b", "2"))).isTrue();

        assertThat(seen()).isEqualTo(Map.of("a", "2", "b", "2"));
        assertThat(names())
                .containsExactlyInAnyOrder("..data", data(), "a", "b")
                .doesNotContain(before);
        assertThat(Files.getAttribute(volume.resolve("a"), "unix:ino", LinkOption.NOFOLLOW_LINKS))
                .isEqualTo(link);
    }

    @Test
    void write_changedModeOnly_isWritten() throws IOException {
        writer.write(Map.of("a", VolumeFile.of(new byte[] {1}, 0644)));

        assertThat(writer.write(Map.of("a", VolumeFile.of(new byte[] {1}, 0400))))
                .isTrue();
        assertThat(permissions("a")).isEqualTo("r--------");
    }

    @Test
    void write_modes_areThoseOfThePayload() throws IOException {
        writer.write(Map.of("a", VolumeFile.of(new byte[0], 0751), "d/b", VolumeFile.of(new byte[0], 0604)));

        assertThat(permissions("a")).isEqualTo("rwxr-x--x");
        assertThat(permissions("d/b")).isEqualTo("rw----r--");
        assertThat(permissions("..data")).isEqualTo("rwxr-xr-x");
    }

    @Test
    void write_obsoleteFiles_areRemovedWithTheirLinks() throws IOException {
        writer.write(files("a", "1", "dir/x", "1", "dir/y", "1", "gone/z", "1"));

        assertThat(writer.write(files("a", "1", "dir/x", "1"))).isTrue();

        assertThat(seen()).isEqualTo(Map.of("a", "1", "dir/x", "1"));
        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a", "dir");
    }

    @Test
    void write_newFile_isLinked() throws IOException {
        writer.write(files("a", "1"));
        writer.write(files("a", "1", "b", "2"));

        assertThat(seen()).isEqualTo(Map.of("a", "1", "b", "2"));
    }

    @Test
    void write_empty_isWrittenOnceAndThenUnchanged() throws IOException {
        assertThat(writer.write(Map.of())).isTrue();
        assertThat(writer.write(Map.of())).isFalse();
        assertThat(names()).containsExactlyInAnyOrder("..data", data());
    }

    @Test
    void write_fileBecomesDirectory_isSwapped() throws IOException {
        writer.write(files("a", "1"));
        writer.write(files("a/b", "2"));

        assertThat(seen()).isEqualTo(Map.of("a/b", "2"));
    }

    @Test
    void write_pathNotInItsShortestForm_isTheSameFile() throws IOException {
        writer.write(files("./a//b", "1"));

        assertThat(writer.write(files("a/b", "1"))).isFalse();
    }

    /** An interruption before the switch leaves a half-written directory, the new link and a dangling link. */
    @Test
    void write_afterACrashBeforeTheSwap_removesTheLeftovers() throws IOException {
        writer.write(files("a", "1"));
        Path half = Files.createDirectories(volume.resolve("..2025_12_31_23_59_59.1"));
        Files.writeString(half.resolve("new"), "half");
        Files.createSymbolicLink(volume.resolve("..data_tmp"), half.getFileName());
        Files.createSymbolicLink(volume.resolve("new"), Path.of("..data/new"));

        assertThat(writer.write(files("a", "1"))).isFalse();
        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a");
    }

    /** An interruption after the switch leaves the old directory and an obsolete link. */
    @Test
    void write_afterACrashAfterTheSwap_finishesTheWork() throws IOException {
        writer.write(files("a", "1"));
        Files.createDirectories(volume.resolve("..2025_12_31_23_59_59.1"));
        Files.createSymbolicLink(volume.resolve("old"), Path.of("..data/old"));
        Files.delete(volume.resolve("a"));

        assertThat(writer.write(files("a", "1"))).isFalse();
        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a");
        assertThat(seen()).isEqualTo(Map.of("a", "1"));
    }

    @Test
    void write_dataLinkLeadsNowhere_isWrittenAnew() throws IOException {
        writer.write(files("a", "1"));
        Files.delete(volume.resolve("..data"));
        Files.createSymbolicLink(volume.resolve("..data"), Path.of("..gone"));

        assertThat(writer.write(files("a", "1"))).isTrue();
        assertThat(seen()).isEqualTo(Map.of("a", "1"));
    }

    @Test
    void write_filesOfOthers_stay() throws IOException {
        writer.write(files("a", "1"));
        Files.writeString(volume.resolve("mine"), "x");
        Files.createSymbolicLink(volume.resolve("link"), Path.of("mine"));

        writer.write(files("b", "1"));

        assertThat(names()).contains("mine", "link", "b").doesNotContain("a");
    }

    @Test
    void write_nameTakenBySomethingElse_failsAndKeepsWhatWas() throws IOException {
        writer.write(files("a", "1"));
        Files.writeString(volume.resolve("b"), "in the way");

        assertThatThrownBy(() -> writer.write(files("a", "2", "b", "2"))).isInstanceOf(IOException.class);

        assertThat(Files.readString(volume.resolve("a"))).isEqualTo("1");
        assertThat(writer.write(files("a", "1"))).isFalse();
        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a", "b");
    }

    /** As on a full disk: some files were written before the one that fails. */
    @Test
    void write_fileCannotBeWritten_leavesNothing() throws IOException {
        writer.write(files("a", "1"));
        for (int attempt = 0; attempt < 200; attempt++) {
            assertThatThrownBy(() -> writer.write(files("a", "2", "b", "2", "b/c", "2")))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("b/c");
        }

        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a");
        assertThat(seen()).isEqualTo(Map.of("a", "1"));
    }

    @Test
    void write_linkCannotBeCreated_leavesNoFiles() throws IOException {
        writer.write(files("a", "1"));
        Files.writeString(volume.resolve("b"), "in the way");

        assertThatThrownBy(() -> writer.write(files("a", "2", "b", "2"))).isInstanceOf(IOException.class);

        assertThat(names()).containsExactlyInAnyOrder("..data", data(), "a", "b");
    }

    @Test
    void write_whileSomebodyReads_showsOnePayloadAsAWhole() throws Exception {
        writer.write(files("a", "0", "b", "0"));
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger reads = new AtomicInteger();
        Set<String> seen = ConcurrentHashMap.newKeySet();
        CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> readUntil(over, reads, seen), NewThread.EACH);

        for (int i = 1; (i <= 300 || reads.get() < READS || seen.size() < 149) && !reader.isDone(); i++) {
            writer.write(files("a", "" + i, "b", "" + i));
        }
        over.set(true);

        reader.get(60, TimeUnit.SECONDS);
        assertThat(reads).hasValueGreaterThanOrEqualTo(READS);
        assertThat(seen).hasSizeGreaterThanOrEqualTo(149);
    }

    /** Records each payload that it reads. Fails if it reads a mix of two payloads, or none. */
    private void readUntil(AtomicBoolean over, AtomicInteger reads, Set<String> seen) {
        try {
            while (!over.get()) {
                // the file must never be missing
                String root = data();
                try {
                    String a = Files.readString(volume.resolve(root).resolve("a"));
                    assertThat(Files.readString(volume.resolve(root).resolve("b")))
                            .isEqualTo(a);
                    reads.incrementAndGet();
                    seen.add(a);
                } catch (NoSuchFileException removed) {
                    assertThat(data())
                            .as("what is linked, while %s is missing", removed.getFile())
                            .isNotEqualTo(root);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/etc/passwd", "../x", "a/../../x", "..data/x", "./..x"})
    void write_pathOutOfTheVolume_isRefusedAndNothingWritten(String path) throws IOException {
        writer.write(files("a", "1"));

        assertThatThrownBy(() -> writer.write(files("b", "1", path, "2")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("invalid path");
        assertThat(seen()).isEqualTo(Map.of("a", "1"));
    }

    private static Map<String, VolumeFile> files(String... pathsAndTexts) {
        ImmutableMap.Builder<String, VolumeFile> files = ImmutableMap.builder();
        for (int i = 0; i < pathsAndTexts.length; i += 2) {
            files.put(pathsAndTexts[i], VolumeFile.of(pathsAndTexts[i + 1].getBytes(StandardCharsets.UTF_8), 0644));
        }
        return files.buildOrThrow();
    }

    private String data() throws IOException {
        return Files.readSymbolicLink(volume.resolve("..data")).toString();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> entries = Files.list(volume)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }

    private String permissions(String path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(volume.resolve(path)));
    }

    /** Returns the files that a container sees: those whose path does not begin with two dots. */
    private Map<String, String> seen() throws IOException {
        Map<String, String> seen = new TreeMap<>();
        for (String name : names()) {
            if (!name.startsWith("..")) {
                try (Stream<Path> paths = Files.walk(volume.resolve(name), FileVisitOption.FOLLOW_LINKS)) {
                    for (Path path : paths.filter(Files::isRegularFile).toList()) {
                        seen.put(volume.relativize(path).toString(), Files.readString(path));
                    }
                }
            }
        }
        return seen;
    }
}
