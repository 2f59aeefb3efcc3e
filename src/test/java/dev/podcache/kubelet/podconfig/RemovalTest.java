package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Whatever containers make of their volumes, they are deleted, and nothing outside of them. */
class RemovalTest {

    private static final int NOBODY = 65_534;

    @TempDir
    Path temp;

    private Path volume = Path.of(".");
    private Path outside = Path.of(".");

    @BeforeEach
    void setUp() throws IOException {
        volume = Files.createDirectory(temp.resolve("volume"));
        outside = Files.createDirectory(temp.resolve("outside"));
        Files.createFile(outside.resolve("keep"));
    }

    /** Makes directories in each other, beginning with the innermost, because no path can name it. */
    private void nest(int depth) throws IOException {
        Path inner = Files.createDirectory(temp.resolve("0"));
        Files.createFile(inner.resolve("file"));
        for (int i = 1; i <= depth; i++) {
            Path outer = Files.createDirectory(temp.resolve("" + i));
            Files.move(inner, outer.resolve("a"));
            inner = outer;
        }
        Files.move(inner, volume.resolve("a"));
    }

    private void assertRemoved() {
        assertThat(volume).doesNotExist();
        assertThat(outside.resolve("keep")).exists();
    }

    @Test
    void of_directoriesInEachOther_onASmallStack_areDeleted() throws Exception {
        nest(5_000);
        CompletableFuture<Void> removed = new CompletableFuture<>();
        Thread small = new Thread(
                null,
                () -> {
                    try {
                        Removal.of(volume);
                        removed.complete(null);
                    } catch (Throwable e) {
                        removed.completeExceptionally(e);
                    }
                },
                "small",
                128 << 10);
        small.start();

        removed.get(60, TimeUnit.SECONDS);
        assertRemoved();
    }

    @Test
    void of_manyDirectoriesBesideEachOther_areDeleted() throws IOException {
        for (int i = 0; i < 2_000; i++) {
            Files.createFile(Files.createDirectories(volume.resolve("a" + i % 7 + "/b" + i))
                    .resolve("c"));
        }

        Removal.of(volume);

        assertRemoved();
    }

    @Test
    void of_linksFilesAndNothing_deletesOnlyTheName() throws IOException {
        Path link = Files.createSymbolicLink(temp.resolve("link"), outside);
        Files.createSymbolicLink(volume.resolve("out"), outside);
        Files.createSymbolicLink(volume.resolve("dangling"), temp.resolve("none"));
        Files.createSymbolicLink(Files.createDirectory(volume.resolve("deep")).resolve("up"), temp);

        Removal.of(link);
        Removal.of(temp.resolve("none"));
        Removal.of(volume);

        assertThat(link).doesNotExist();
        assertRemoved();
    }

    /** As an agent that is not root meets it. Root may read everything, so there it runs as another user. */
    @Test
    void of_directoriesWithoutPermissions_asAnotherUser_areDeleted() throws Exception {
        Path program = Files.createDirectory(temp.resolve("program"));
        for (Class<?> each : List.of(Removal.class, RemovalProgram.class)) {
            copyClasses(each, program);
        }
        for (String mode : List.of("---------", "r--r--r--", "-w--w--w-", "--x--x--x", "r-xr-xr-x", "rwxrwxrwx")) {
            Path outer = Files.createDirectories(volume.resolve(mode + "/outer"));
            Path inner = Files.createDirectories(outer.resolve("inner/deep"));
            Files.createFile(inner.resolve("file"));
            for (Path each : List.of(inner, inner.getParent(), outer, outer.getParent())) {
                Files.setPosixFilePermissions(each, PosixFilePermissions.fromString(mode));
            }
        }
        Files.setPosixFilePermissions(volume, PosixFilePermissions.fromString("r-x------"));

        boolean isRoot = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        if (isRoot) {
            assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv to become another user");
            Path java = Path.of(System.getProperty("java.home"), "bin/java").toRealPath();
            assumeTrue(isReachableByAll(java), "this Java is in a folder that another user cannot enter");
            giveToNobody();
            Process process = new ProcessBuilder(
                            "setpriv",
                            "--reuid=" + NOBODY,
                            "--regid=" + NOBODY,
                            "--clear-groups",
                            java.toString(),
                            "-cp",
                            program.toString(),
                            RemovalProgram.class.getName(),
                            volume.toString())
                    .directory(temp.toFile())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(output).isZero();
        } else {
            Removal.of(volume);
        }

        assertRemoved();
    }

    private static void copyClasses(Class<?> of, Path target) throws IOException {
        Path classes =
                Path.of(of.getProtectionDomain().getCodeSource().getLocation().getPath());
        Path folder = Path.of(of.getPackageName().replace('.', '/'));
        Files.createDirectories(target.resolve(folder));
        try (Stream<Path> files = Files.list(classes.resolve(folder))) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith(of.getSimpleName())) {
                    Path copy =
                            target.resolve(folder).resolve(file.getFileName().toString());
                    if (!Files.exists(copy)) {
                        Files.copy(file, copy);
                    }
                }
            }
        }
    }

    private static boolean isReachableByAll(Path file) throws IOException {
        for (Path folder = file.getParent(); folder != null; folder = folder.getParent()) {
            if (!Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                return false;
            }
        }
        return true;
    }

    private void giveToNobody() throws IOException {
        try (Stream<Path> all = Files.walk(temp)) {
            for (Path each : all.toList()) {
                Files.setAttribute(each, "unix:uid", NOBODY);
            }
        }
    }

    @Test
    void of_somethingThatStays_deletesTheRestAndKeepsTheFilesOfTheTop() throws Exception {
        Files.createFile(volume.resolve("pod.json"));
        Files.createFile(Files.createDirectories(volume.resolve("a/b")).resolve("secret"));
        Path stays = Files.createFile(Files.createDirectory(volume.resolve("c")).resolve("stays"));
        assumeTrue(immutable("+i", stays), "no immutable files here");
        try {
            assertThatThrownBy(() -> Removal.of(volume)).isInstanceOf(IOException.class);

            assertThat(volume.resolve("a")).doesNotExist();
            assertThat(volume.resolve("pod.json")).exists();
        } finally {
            immutable("-i", stays);
        }
        Removal.of(volume);
        assertRemoved();
    }

    private static boolean immutable(String flag, Path file) throws IOException, InterruptedException {
        return new ProcessBuilder("chattr", flag, file.toString()).start().waitFor() == 0;
    }

    /** What a container can put in the place of a directory after it was seen to be one. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void open_pipeOrLinkInThePlaceOfADirectory_failsAndWaitsForNobody() throws Exception {
        Files.createDirectories(volume.resolve("folder"));
        Files.createSymbolicLink(volume.resolve("link"), Path.of("folder"));
        assertThat(new ProcessBuilder("mkfifo", volume.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();

        try (SecureDirectoryStream<Path> parent = Removal.open(volume)) {
            Removal.open(parent, Path.of("folder")).close();
            for (String name : List.of("pipe", "link")) {
                CompletableFuture<Throwable> failure = CompletableFuture.supplyAsync(
                        () -> catchThrowable(() -> Removal.open(parent, Path.of(name))), NewThread.EACH);
                assertThat(failure.get(Patience.SECONDS, TimeUnit.SECONDS)).isInstanceOf(FileSystemException.class);
            }
        }
    }

    /** A process that goes on swaps a directory for a link while its volume is deleted. */
    @Test
    void of_whileDirectoriesBecomeLinks_deletesNothingOutside() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger swaps = new AtomicInteger();
        CompletableFuture<Void> swapping = CompletableFuture.runAsync(
                () -> {
                    while (!over.get()) {
                        swap(swaps);
                    }
                },
                NewThread.EACH);
        for (int i = 0; i < 2_000 || (swaps.get() < 1_000 && i < 20_000); i++) {
            try {
                Removal.of(volume);
            } catch (IOException changedMeanwhile) {
                // the next call deletes the rest
            }
        }
        over.set(true);
        swapping.get(60, TimeUnit.SECONDS);
        Removal.of(volume);

        assertRemoved();
    }

    private void swap(AtomicInteger swaps) {
        try {
            Path a = volume.resolve("a");
            Files.createDirectories(a.resolve("b/keep"));
            Files.createFile(a.resolve("keep"));
            Files.createSymbolicLink(volume.resolve("link"), outside);
            Files.move(a, volume.resolve("aside"));
            Files.move(volume.resolve("link"), a);
            swaps.incrementAndGet();
        } catch (IOException | UncheckedIOException deletedMeanwhile) {
            swaps.incrementAndGet();
        }
    }
}
