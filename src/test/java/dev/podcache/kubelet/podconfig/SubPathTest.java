package dev.podcache.kubelet.podconfig;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.common.base.Throwables;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.testing.NewThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubPathTest {

    private static final int SWAPS = 769;

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

    private static VolumeMountPoint mount(String subPath) {
        return new VolumeMountPoint("data", "/data", subPath, false);
    }

    private static VolumeMountPoint expanded(String subPath) {
        return new VolumeMountPoint("data", "/data", subPath, false, "$(PASSWORD)");
    }

    private Path resolved(String subPath) throws IOException {
        return SubPath.of(volume, mount(subPath), volume.getParent());
    }

    @Test
    void of_linkWithinTheVolume_isFollowed() throws IOException {
        assertThat(resolved("inside/x")).isEqualTo(volume.resolve("real/x"));
        assertThat(volume.resolve("real/x")).isDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"out", "out/x", "up", "up/pod/volume", "inside/../../x", "dangling", "dangling/x"})
    void of_wayOutOfTheVolume_isRefused(String subPath) {
        assertThatThrownBy(() -> resolved(subPath)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> SubPath.of(volume, mount(subPath), null)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> SubPath.ofPayload(volume, mount(subPath))).isInstanceOf(IOException.class);
        assertThat(outside).isEmptyDirectory();
    }

    @Test
    void of_volumeOfAGroup_newDirectoriesHaveItsModeAndGroup() throws IOException {
        Files.setAttribute(volume, "unix:mode", 02775);

        Path made = resolved("new/deep");

        for (Path each : List.of(made, made.getParent())) {
            assertThat((Integer) Files.getAttribute(each, "unix:mode") & 07777).isEqualTo(02775);
            assertThat(Files.getAttribute(each, "unix:gid")).isEqualTo(Files.getAttribute(volume, "unix:gid"));
        }
        assertThat(SubPath.of(volume, mount("host/deep"), null)).isDirectory();
        try (Stream<Path> entries = Files.list(volume)) {
            assertThat(entries.map(Path::getFileName).map(Path::toString))
                    .containsExactlyInAnyOrder("real", "inside", "out", "up", "dangling", "new", "host");
        }
    }

    /** What a subPathExpr is expanded to may come from a Secret. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "hunter2/../x",
                "hunter2/up/../..",
                "out/hunter2",
                "file/hunter2",
                "hunter2\0",
                "dangling/hunter2",
                "loop/hunter2",
                "hunter2\uDCFF"
            })
    void of_expandedValue_isInNoMessage(String value) throws IOException {
        Files.createFile(volume.resolve("file"));
        Files.createSymbolicLink(volume.resolve("loop"), Path.of("loop"));
        String longName = "hunter2".repeat(100);

        for (String each : List.of(value, longName, value + "/" + longName)) {
            assertHidden(() -> SubPath.of(volume, expanded(each), volume.getParent()));
            assertHidden(() -> SubPath.of(volume, expanded(each), null));
            assertHidden(() -> SubPath.ofPayload(volume, expanded(each)));
        }
        assertThat(expanded(value).toString()).doesNotContain("hunter2");
    }

    private static void assertHidden(ThrowingCallable call) {
        Throwable thrown = catchThrowable(call);
        assertThat(thrown).isInstanceOf(IOException.class).hasMessageContaining("subPathExpr \"$(PASSWORD)\"");
        assertThat(Throwables.getStackTraceAsString(thrown)).doesNotContain("hunter2");
    }

    /** A container that swaps a directory for a link all the time gets nothing created or changed outside its volume. */
    @Test
    void of_whileDirectoriesBecomeLinks_staysInTheVolume() throws Exception {
        Files.setAttribute(volume, "unix:mode", 0777);
        Files.setAttribute(outside, "unix:mode", 0700);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger swaps = new AtomicInteger();
        CompletableFuture<Void> swapping = CompletableFuture.runAsync(() -> swap(over, swaps), NewThread.EACH);
        int made = 0;
        for (int i = 0; swaps.get() < SWAPS; i++) {
            if (i % 100 == 99) {
                // a swap fails while this thread makes the same directories: let one succeed
                int before = swaps.get();
                await().pollInterval(Duration.ofMillis(1)).until(() -> swaps.get() > before);
            }
            try {
                SubPath.of(volume, mount("a/new" + i % 50 + "/deep"), i % 2 == 0 ? volume.getParent() : null);
                made++;
            } catch (IOException refused) {
                // it met the link
            }
        }
        over.set(true);
        swapping.get(60, TimeUnit.SECONDS);

        assertThat(swaps).hasValueGreaterThanOrEqualTo(SWAPS);
        assertThat(made).isPositive();
        assertThat(outside).isEmptyDirectory();
        assertThat((Integer) Files.getAttribute(outside, "unix:mode") & 07777).isEqualTo(0700);
    }

    private void swap(AtomicBoolean over, AtomicInteger swaps) {
        Path a = volume.resolve("a");
        Path link = volume.resolve("link");
        Path aside = volume.resolve("aside");
        while (!over.get()) {
            try {
                Files.createDirectories(a);
                Files.createSymbolicLink(link, outside);
                Files.move(a, aside);
                Files.move(link, a);
                swaps.incrementAndGet();
                Files.delete(a);
                Removal.of(aside);
            } catch (IOException madeMeanwhile) {
                deleteAll(a, link, aside);
            }
        }
    }

    private static void deleteAll(Path... paths) {
        for (Path path : paths) {
            try {
                Removal.of(path);
            } catch (IOException changedMeanwhile) {
                // the next swap deletes it
            }
        }
    }
}
