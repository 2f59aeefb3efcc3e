package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskUsageTest {

    @TempDir
    private Path directory;

    @Test
    void of_filesInDirectories_areAdded() throws IOException {
        Files.write(directory.resolve("a"), new byte[1_000]);
        Files.write(Files.createDirectory(directory.resolve("inner")).resolve("b"), new byte[500]);

        assertThat(DiskUsage.of(directory)).isEqualTo(new DiskUsage(1_500, 4));
    }

    @Test
    void of_fileWithTwoNames_countsOnce() throws IOException {
        Files.write(directory.resolve("a"), new byte[1_000]);
        Files.createLink(directory.resolve("b"), directory.resolve("a"));
        Files.write(directory.resolve("c"), new byte[500]);

        assertThat(DiskUsage.of(directory)).isEqualTo(new DiskUsage(1_500, 3));
    }
}
