package dev.podcache.kubelet.podconfig;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ContainerFileTest {

    @TempDir
    private Path outside;

    private Path root;

    @BeforeEach
    void makeRoot() throws IOException {
        root = outside.resolve("root");
        Files.createDirectories(root.resolve("a/b"));
        Files.writeString(outside.resolve("secret"), "outside");
    }

    private String end(String file) throws IOException {
        return new String(ContainerFile.end(root, root.resolve(file), 4), UTF_8);
    }

    @Test
    void end_ofAFile_isItsLastBytes() throws IOException {
        Files.writeString(root.resolve("a/b/long"), "0123456789");
        Files.writeString(root.resolve("short"), "01");
        Files.writeString(root.resolve("empty"), "");

        assertThat(end("a/b/long")).isEqualTo("6789");
        assertThat(end("short")).isEqualTo("01");
        assertThat(end("empty")).isEmpty();
    }

    @Test
    void end_ofWhatIsNoFile_isEmpty() throws Exception {
        new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start().waitFor();
        Files.createSymbolicLink(root.resolve("link"), outside.resolve("secret"));

        assertThat(end("pipe")).isEmpty();
        assertThat(end("link")).isEmpty();
        assertThat(end("a")).isEmpty();
    }

    @Test
    void end_wayThroughALinkOrAFile_isRefused() throws IOException {
        Files.createSymbolicLink(root.resolve("up"), outside);
        Files.writeString(root.resolve("file"), "x");

        for (String way : new String[] {"up/secret", "file/secret", "missing/secret", "missing"}) {
            assertThatExceptionOfType(FileSystemException.class).as(way).isThrownBy(() -> end(way));
        }
    }

    /** A container puts a pipe in the place of the file after it was seen to be a regular one. */
    @Test
    void end_fileIsReplacedByAPipeMeanwhile_nobodyIsWaitedFor() throws Exception {
        new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start().waitFor();
        try (SecureDirectoryStream<Path> parent = Removal.open(root)) {
            CompletableFuture<byte[]> content = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return ContainerFile.end(parent, Path.of("pipe"), 4);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    NewThread.EACH);

            assertThat(content.get(Patience.SECONDS, TimeUnit.SECONDS)).isEmpty();
        }
    }
}
