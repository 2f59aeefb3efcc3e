package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.FileKeySelector;
import io.fabric8.kubernetes.api.model.FileKeySelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Variables from files, after the cases with fileKeyRef in TestMakeEnvironmentVariables of upstream. */
class FileVariablesTest {

    private static final String FILE = "A='1'\nKEY='hunter2'\nEMPTY=''\n";

    @TempDir
    private Path temp;

    private Path volume = Path.of(".");

    @BeforeEach
    void setUp() throws IOException {
        volume = Files.createDirectories(temp.resolve("pod/volumes/config"));
        write(volume.resolve("vars.env"), FILE);
        write(temp.resolve("outside.env"), "KEY='stolen'\n");
    }

    private static void write(Path file, String content) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private static Pod pod() {
        return new PodBuilder(PodConfigFixture.pod(PodConfigFixture.NS, new Container()))
                .editSpec()
                .addNewVolume()
                .withName("config")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .addNewVolume()
                .withName("host")
                .withNewHostPath()
                .withPath("/")
                .endHostPath()
                .endVolume()
                .endSpec()
                .build();
    }

    private static FileKeySelectorBuilder selector(String path) {
        return new FileKeySelectorBuilder()
                .withVolumeName("config")
                .withPath(path)
                .withKey("KEY");
    }

    private @Nullable String value(FileKeySelector selector) {
        return new FileVariables((pod, name) -> volume, pod(), ConfigTarget.container("main")).value(selector);
    }

    private @Nullable String value(String path) {
        return value(selector(path).build());
    }

    private void assertFails(FileKeySelector selector, String message) {
        assertThatThrownBy(() -> value(selector))
                .isInstanceOf(PodConfigException.class)
                .hasMessage(message)
                .satisfies(e -> assertThat(((PodConfigException) e).container()).contains("main"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"vars.env", "./vars.env", "deep/er/vars.env", "link.env", "away/vars.env"})
    void value_isInTheFile_alsoThroughLinksWithinTheVolume(String path) throws IOException {
        write(volume.resolve("deep/er/vars.env"), FILE);
        Files.createSymbolicLink(volume.resolve("link.env"), Path.of("deep/../vars.env"));
        Files.createSymbolicLink(volume.resolve("away"), volume.resolve("deep/er"));

        assertThat(value(path)).isEqualTo("hunter2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"out.env", "out/outside.env", "up.env", "chain/outside.env"})
    void value_behindALinkOutOfTheVolume_isRefused(String path) throws IOException {
        Files.createSymbolicLink(volume.resolve("out.env"), temp.resolve("outside.env"));
        Files.createSymbolicLink(volume.resolve("out"), temp);
        Files.createSymbolicLink(volume.resolve("up.env"), Path.of("../../../outside.env"));
        Files.createSymbolicLink(volume.resolve("chain"), Path.of("out"));

        assertFails(
                selector(path).withOptional(true).build(),
                "couldn't parse env file \"" + path + "\" of volume \"config\": its path leads out of the volume");
    }

    @Test
    void value_aboveTheVolume_isRefused() {
        assertFails(
                selector("../../../outside.env").build(),
                "couldn't parse env file \"../../../outside.env\" of volume \"config\": its path must not contain '..'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            vars.env | MISSING | environment variable key "MISSING" not found in env file "vars.env" of volume "config"
            vars.env | EMPTY   | environment variable key "EMPTY" not found in env file "vars.env" of volume "config"
            none.env | KEY     | couldn't parse env file "none.env" of volume "config": there is no such file
            no/x.env | KEY     | couldn't parse env file "no/x.env" of volume "config": there is no such file
            dangling | KEY     | couldn't parse env file "dangling" of volume "config": there is no such file
            """)
    void value_isMissing_isRefused_unlessItIsOptional(String path, String key, String message) throws IOException {
        Files.createSymbolicLink(volume.resolve("dangling"), Path.of("nothing"));

        assertFails(selector(path).withKey(key).build(), message);
        assertFails(selector(path).withKey(key).withOptional(false).build(), message);
        assertThat(value(selector(path).withKey(key).withOptional(true).build()))
                .isNull();
    }

    @Test
    void volumeWasNotMounted_isAsAMissingFile() {
        volume = temp.resolve("not/mounted");

        assertFails(
                selector("vars.env").build(),
                "couldn't parse env file \"vars.env\" of volume \"config\": there is no such file");
    }

    @Test
    void fileIsMalformed_isRefusedByLine_alsoIfOptional_withoutItsContent() throws IOException {
        write(volume.resolve("vars.env"), "A='1'\nKEY=hunter2\n");

        assertFails(
                selector("vars.env").withOptional(true).build(),
                "couldn't parse env file \"vars.env\" of volume \"config\": invalid environment variable format at line 2:"
                        + " value must be enclosed in single quotes");
    }

    @Test
    void file_hasAtMost64KiB() throws IOException {
        String filled = FILE + "#".repeat((64 << 10) - FILE.length());
        write(volume.resolve("vars.env"), filled);
        assertThat(value("vars.env")).isEqualTo("hunter2");

        write(volume.resolve("vars.env"), filled + "#");
        assertFails(
                selector("vars.env").build(),
                "couldn't parse env file \"vars.env\" of volume \"config\": it is larger than 64 KiB");
    }

    @Test
    void value_mayHaveAnyBytes() throws IOException {
        byte[] file = "KEY='-'".getBytes(StandardCharsets.US_ASCII);
        file[5] = (byte) 0xFF;
        Files.write(volume.resolve("vars.env"), file);

        assertThat(ByteText.bytes(String.valueOf(value("vars.env")))).containsExactly(0xFF);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "folder"})
    @EnabledOnOs(OS.LINUX)
    void whatIsNoRegularFile_isRefused(String path) throws IOException {
        Files.createDirectory(volume.resolve("folder"));

        assertFails(
                selector(path).build(),
                "couldn't parse env file \"" + path + "\" of volume \"config\": it is no regular file");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void pipe_isRefused_insteadOfWaitedFor() throws Exception {
        new ProcessBuilder("mkfifo", volume.resolve("pipe").toString()).start().waitFor();

        assertFails(
                selector("pipe").build(),
                "couldn't parse env file \"pipe\" of volume \"config\": it is no regular file");
    }

    /** A container puts a pipe in the place of the file after it was seen to be a regular one. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void fileIsReplacedByAPipeMeanwhile_nobodyIsWaitedFor() throws Exception {
        new ProcessBuilder("mkfifo", volume.resolve("pipe").toString()).start().waitFor();
        try (SecureDirectoryStream<Path> parent = Removal.open(volume)) {
            CompletableFuture<byte[]> content = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return FileVariables.content(parent, Path.of("pipe"));
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    NewThread.EACH);

            assertThat(content.get(Patience.SECONDS, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"vars.env/x", "pipe/x"})
    @EnabledOnOs(OS.LINUX)
    void pathThroughWhatIsNoFolder_isRefused_alsoIfOptional(String path) throws Exception {
        new ProcessBuilder("mkfifo", volume.resolve("pipe").toString()).start().waitFor();

        assertFails(
                selector(path).withOptional(true).build(),
                "couldn't parse env file \"" + path + "\" of volume \"config\": a part of its path is no folder");
    }

    @Test
    void linkOutOfTheVolume_isRefusedInTheSameWords_whateverIsThere() throws IOException {
        Files.createSymbolicLink(volume.resolve("file"), temp.resolve("outside.env"));
        Files.createSymbolicLink(volume.resolve("nothing"), temp.resolve("no/such"));
        Files.createSymbolicLink(volume.resolve("folder"), temp);
        Files.createSymbolicLink(volume.resolve("relative"), Path.of("../../../no/such"));

        for (String path : List.of("file", "nothing", "folder", "relative", "file/x", "nothing/x", "folder/x")) {
            assertFails(
                    selector(path).withOptional(true).build(),
                    "couldn't parse env file \"" + path + "\" of volume \"config\": its path leads out of the volume");
        }
    }

    @Test
    void links_asManyAsLinuxFollows_areFollowed_andNoMore() throws IOException {
        Files.createSymbolicLink(volume.resolve("link1"), Path.of("vars.env"));
        for (int i = 2; i <= 41; i++) {
            Files.createSymbolicLink(volume.resolve("link" + i), Path.of("link" + (i - 1)));
        }

        assertThat(value("link40")).isEqualTo("hunter2");
        assertFails(
                selector("link41").withOptional(true).build(),
                "couldn't parse env file \"link41\" of volume \"config\": its path has too many links");
    }

    /** Root may read every folder, so that this is a name that no folder can have. */
    @Test
    void folderThatCannotBeRead_isNoMissingFile() {
        assertThatThrownBy(() -> value(selector("x".repeat(300) + "/vars.env")
                        .withOptional(true)
                        .build()))
                .isInstanceOf(PodConfigException.class)
                .hasMessageContaining("FileSystemException");
    }

    @Test
    void pathThatThisMachineCannotHave_isRefused() {
        assertThatThrownBy(() -> value("a\0b"))
                .hasMessageEndingWith("of volume \"config\": its path is not one of this machine");
    }

    @Test
    void volume_mustBeAnEmptyDirOfThePod() {
        assertFails(
                selector("vars.env").withVolumeName("other").build(),
                "cannot find the volume \"other\" referenced by FileKeyRef");
        assertFails(
                selector("etc/passwd").withVolumeName("host").build(),
                "volume \"host\" referenced by FileKeyRef must be of type emptyDir");
    }

    @Test
    void runtimeWithoutDirectories_isRefusedByName() {
        FileVariables none = new FileVariables(PodConfigFixture.NO_VOLUMES, pod(), ConfigTarget.container("main"));

        assertThatThrownBy(
                        () -> none.value(selector("vars.env").withOptional(true).build()))
                .hasMessage("failed to get host path for volume \"config\": no volumes here");
    }

    /** A container swaps a directory and a link to what is outside. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void directoryIsSwappedForALinkMeanwhile_nothingOutsideIsRead() throws Exception {
        write(volume.resolve("d/outside.env"), FILE);
        Path hidden = temp.resolve("pod/hidden");
        Path link = Files.createSymbolicLink(temp.resolve("pod/link"), temp);
        AtomicBoolean ends = new AtomicBoolean();
        CompletableFuture<Void> swapping = CompletableFuture.runAsync(
                () -> {
                    while (!ends.get()) {
                        swap(hidden, link);
                    }
                },
                NewThread.EACH);
        try {
            for (int i = 0; i < 2_000; i++) {
                try {
                    assertThat(value("d/outside.env")).isEqualTo("hunter2");
                } catch (PodConfigException refused) {
                    assertThat(refused).hasMessageNotContaining("hunter2").hasMessageNotContaining("stolen");
                }
            }
        } finally {
            ends.set(true);
            swapping.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }

    private void swap(Path hidden, Path link) {
        try {
            Path directory = volume.resolve("d");
            Files.move(directory, hidden, StandardCopyOption.ATOMIC_MOVE);
            Files.move(link, directory, StandardCopyOption.ATOMIC_MOVE);
            Files.move(directory, link, StandardCopyOption.ATOMIC_MOVE);
            Files.move(hidden, directory, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void container_getsTheVariable_andExpandsIt_andLeavesAnOptionalOneOut() throws IOException {
        write(volume.resolve("vars.env"), FILE);
        try (PodConfigFixture f = new PodConfigFixture()) {
            Container container = new ContainerBuilder()
                    .withName("main")
                    .addNewEnv()
                    .withName("FROM_FILE")
                    .withNewValueFrom()
                    .withFileKeyRef(selector("vars.env").build())
                    .endValueFrom()
                    .endEnv()
                    .addNewEnv()
                    .withName("LATER")
                    .withValue("<$(FROM_FILE)>")
                    .endEnv()
                    .addNewEnv()
                    .withName("OPTIONAL")
                    .withNewValueFrom()
                    .withFileKeyRef(selector("none.env").withOptional(true).build())
                    .endValueFrom()
                    .endEnv()
                    .build();

            Environment environment = new ContainerEnvironment(
                            f.secrets, f.configMaps, f.services, (pod, name) -> volume)
                    .of(f.register(pod()), container, PodConfigFixture.PLACEMENT);

            assertThat(environment.variables())
                    .containsEntry("FROM_FILE", "hunter2")
                    .containsEntry("LATER", "<hunter2>")
                    .doesNotContainKey("OPTIONAL");
            assertThat(environment.toString()).doesNotContain("hunter2");
        }
    }
}
