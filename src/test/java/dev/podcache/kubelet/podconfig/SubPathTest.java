package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubPathTest {

    @TempDir
    Path temp;

    private Path volume = Path.of(".");
    private Path outside = Path.of(".");

    @BeforeEach
    void setUp() throws IOException {
        volume = Files.createDirectories(temp.resolve("pod/volume")).toRealPath();
        outside = Files.createDirectory(temp.resolve("outside"));
        Files.createDirectory(volume.resolve("real"));
        Files.createSymbolicLink(volume.resolve("inside"), Path.of("real"));
        Files.createSymbolicLink(volume.resolve("out"), outside);
        Files.createSymbolicLink(volume.resolve("up"), Path.of("../.."));
        Files.createSymbolicLink(volume.resolve("dangling"), outside.resolve("new"));
    }

    @Test
    void of_linkWithinTheVolume_isFollowed() throws IOException {
        assertThat(SubPath.of(volume, "inside/x", false)).isEqualTo(volume.resolve("real/x"));
        assertThat(volume.resolve("real/x")).isDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"out", "out/x", "up", "up/pod/volume", "inside/../../x", "dangling", "dangling/x"})
    void of_wayOutOfTheVolume_isRefused(String subPath) {
        for (boolean payload : new boolean[] {false, true}) {
            assertThatThrownBy(() -> SubPath.of(volume, subPath, payload)).isInstanceOf(IOException.class);
        }
        assertThat(outside).isEmptyDirectory();
    }
}
