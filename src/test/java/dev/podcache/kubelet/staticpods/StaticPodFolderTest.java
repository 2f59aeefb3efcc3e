package dev.podcache.kubelet.staticpods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class StaticPodFolderTest {

    @TempDir
    private Path parent;

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final RecordedEvents events = new RecordedEvents();
    private final List<List<Pod>> received = new ArrayList<>();
    private Path manifests = Path.of("");
    private StaticPodFolder folder = folder();

    @BeforeEach
    void start() throws IOException {
        manifests = Files.createDirectory(parent.resolve("manifests"));
        folder = folder();
    }

    private StaticPodFolder folder() {
        return new StaticPodFolder(
                new StaticPodFiles(manifests, StaticPodFiles.DEFAULT_FREQUENCY),
                new StaticPodFolder.FolderParts(
                        "worker-1", events, TaskThreads.on(Runnable::run, 8, timekeeper), timekeeper),
                received::add);
    }

    @AfterEach
    void close() {
        folder.close();
        timekeeper.close();
    }

    private void write(String file, String pod, String image) throws IOException {
        Files.writeString(manifests.resolve(file), manifest(pod, image));
    }

    private static String manifest(String pod, String image) {
        return "{apiVersion: v1, kind: Pod, metadata: {name: " + pod + "}, spec: {containers: [{name: main, image: "
                + image + "}]}}";
    }

    private List<Pod> pods() {
        return received.get(received.size() - 1);
    }

    private List<String> names() {
        return pods().stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    private void nextRead() {
        timekeeper.advance(StaticPodFiles.DEFAULT_FREQUENCY);
    }

    @Test
    void start_folder_isReadAtOnceWithoutHiddenFilesAndSubfolders() throws IOException {
        write("b.yaml", "beta", "nginx");
        write("a.json", "alpha", "nginx");
        write(".a.yaml.swp", "hidden", "nginx");
        Files.createDirectory(manifests.resolve("sub"));
        Files.writeString(manifests.resolve("sub/c.yaml"), manifest("gamma", "nginx"));

        folder.start();

        assertThat(names()).containsExactly("alpha-worker-1", "beta-worker-1");
        assertThat(events.events()).isEmpty();
    }

    @Test
    void start_afterClose_readsNothing() throws IOException {
        write("a.yaml", "alpha", "nginx");
        folder.close();

        folder.start();
        nextRead();

        assertThat(received).isEmpty();
    }

    @Test
    void start_oneFile_isItsPod() throws IOException {
        write("a.yaml", "alpha", "nginx");
        manifests = manifests.resolve("a.yaml");
        folder = folder();

        folder.start();

        assertThat(names()).containsExactly("alpha-worker-1");
    }

    @Test
    void read_nothingChanged_isTheSameInstances() throws IOException {
        write("a.yaml", "alpha", "nginx");
        folder.start();
        Pod first = pods().get(0);

        nextRead();

        assertThat(received).hasSize(2);
        assertThat(pods().get(0)).isSameAs(first);
        assertThat(first.getMetadata().getAnnotations())
                .containsEntry(
                        "kubernetes.io/config.seen",
                        timekeeper
                                .wallTime()
                                .minus(StaticPodFiles.DEFAULT_FREQUENCY)
                                .toString());
    }

    @Test
    void read_fileChangedAddedAndDeleted_isWhatIsThereNow() throws IOException {
        write("a.yaml", "alpha", "nginx");
        write("b.yaml", "beta", "nginx");
        folder.start();
        String before = pods().get(0).getMetadata().getUid();

        write("a.yaml", "alpha", "httpd");
        Files.delete(manifests.resolve("b.yaml"));
        write("c.yaml", "gamma", "nginx");
        nextRead();

        assertThat(names()).containsExactly("alpha-worker-1", "gamma-worker-1");
        assertThat(pods().get(0).getMetadata().getUid()).isNotEqualTo(before);
    }

    @Test
    void read_brokenFile_isReportedOnceAndTheOthersAreUsed(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file ");
        write("a.yaml", "alpha", "nginx");
        Files.writeString(manifests.resolve("b.yaml"), "kind: [" + NoLeaks.CANARY);
        Files.write(manifests.resolve("c.yaml"), new byte[] {(byte) 0xC3, 0x28});

        folder.start();
        nextRead();

        assertThat(names()).containsExactly("alpha-worker-1");
        assertThat(events.lines())
                .containsExactly(
                        "Warning FailedValidation static pod file " + manifests.resolve("b.yaml")
                                + " is not used: line 1, column 28: it is neither YAML nor JSON; its pod is stopped until the file is valid",
                        "Warning FailedValidation static pod file " + manifests.resolve("c.yaml")
                                + " is not used: line 1, column 1: it is not text in UTF-8 or UTF-16; its pod is stopped until the file is valid");
        assertThat(events.events().get(0).about().getKind()).isEqualTo("Node");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "b\nERROR forged.yaml",
                "b\rforged",
                "b\u2028forged",
                "b\u0085forged",
                "b\u001b[31mforged",
                "b\r\n.yaml"
            })
    void read_lineBreakInTheNameOfAFile_splitsNoLine(String file, NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file ");
        write(file, "alpha", "nginx");
        write("c.yaml", "alpha", "nginx");
        Files.writeString(manifests.resolve(file + "2"), "half");

        folder.start();

        // one file is broken, and one clashes with the other
        assertThat(leaks.warnings()).hasSize(2);
        assertThat(events.lines()).hasSize(2);
        for (String line : List.of(String.join("|", leaks.warnings()), String.join("|", events.lines()))) {
            assertThat(line).doesNotContainPattern("[\\p{Cc}\\p{Zl}\\p{Zp}]");
        }
    }

    @Test
    void read_fileBreaksAndIsRepairedAndBreaksAgain_isReportedTwice(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file ");
        write("a.yaml", "alpha", "nginx");
        folder.start();

        Files.writeString(manifests.resolve("a.yaml"), "half");
        nextRead();
        assertThat(names()).isEmpty();
        write("a.yaml", "alpha", "nginx");
        nextRead();
        assertThat(names()).containsExactly("alpha-worker-1");
        Files.writeString(manifests.resolve("a.yaml"), "half");
        nextRead();

        assertThat(events.events()).hasSize(2);
    }

    @Test
    void read_twoFilesOfOneName_firstIsUsedAndTheOtherIsToldWhich(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file ");
        write("a.yaml", "alpha", "nginx");
        write("b.yaml", "alpha", "httpd");

        folder.start();

        assertThat(pods()).hasSize(1);
        assertThat(pods().get(0).getSpec().getContainers().get(0).getImage()).isEqualTo("nginx");
        assertThat(events.lines())
                .containsExactly("Warning FailedValidation static pod file " + manifests.resolve("b.yaml")
                        + " is not used: pod default/alpha-worker-1 is already defined by "
                        + manifests.resolve("a.yaml") + "; change the name");
    }

    @Test
    void read_twoFilesOfOneUid_firstIsUsedAndTheOtherIsToldWhich(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file ");
        for (String name : List.of("a", "b")) {
            Files.writeString(
                    manifests.resolve(name + ".yaml"),
                    manifest(name, "nginx").replace("{name: " + name, "{uid: u-1, name: " + name));
        }

        folder.start();

        assertThat(names()).containsExactly("a-worker-1");
        assertThat(events.lines())
                .containsExactly("Warning FailedValidation static pod file " + manifests.resolve("b.yaml")
                        + " is not used: metadata.uid \"u-1\" is already used by " + manifests.resolve("a.yaml")
                        + "; remove it");
    }

    @Test
    void read_folderIsMissing_isNoPodsUntilItExists(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod path " + manifests + " does not exist; there are no static pods until it does");
        Files.delete(manifests);

        folder.start();
        assertThat(pods()).isEmpty();
        nextRead();
        assertThat(events.events()).hasSize(1);

        Files.createDirectory(manifests);
        write("a.yaml", "alpha", "nginx");
        nextRead();
        assertThat(names()).containsExactly("alpha-worker-1");
    }

    @Test
    void read_folderFails_isReportedAndThePodsStay(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod path " + manifests + " cannot be read (");
        write("a.yaml", "alpha", "nginx");
        folder.start();

        Files.move(manifests, parent.resolve("moved"));
        // neither a folder nor a regular file
        Files.createSymbolicLink(manifests, Path.of("/dev/null"));
        nextRead();

        assertThat(received).hasSize(1);
        assertThat(events.lines().get(0))
                .startsWith("Warning FailedValidation static pod path " + manifests + " cannot be read (")
                .endsWith("); the static pods stay as they are");
    }

    /** Reading the memory of a process at address 0 fails, whoever asks. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void read_fileCannotBeRead_isReportedAndItsPodStays(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file");
        write("a.yaml", "alpha", "nginx");
        write("b.yaml", "beta", "nginx");
        folder.start();
        Pod alpha = pods().get(0);

        Files.delete(manifests.resolve("a.yaml"));
        Files.createSymbolicLink(manifests.resolve("a.yaml"), Path.of("/proc/self/mem"));
        write("b.yaml", "beta", "redis");
        nextRead();
        nextRead();

        assertThat(pods()).hasSize(2).first().isSameAs(alpha);
        assertThat(pods().get(1).getSpec().getContainers().get(0).getImage()).isEqualTo("redis");
        assertThat(events.lines())
                .singleElement()
                .asString()
                .contains("a.yaml is not used: ", "its pod stays as it is");

        Files.delete(manifests.resolve("a.yaml"));
        nextRead();
        assertThat(names()).containsExactly("beta-worker-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.yaml", "../away/a.yaml"})
    void read_linkCannotBeFollowed_isReportedAndItsPodStays(String target, NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod file");
        write("a.yaml", "alpha", "nginx");
        folder.start();
        Pod alpha = pods().get(0);

        Files.delete(manifests.resolve("a.yaml"));
        Files.createSymbolicLink(manifests.resolve("a.yaml"), Path.of(target));
        nextRead();
        nextRead();

        assertThat(received).hasSize(3);
        assertThat(pods()).singleElement().isSameAs(alpha);
        assertThat(events.lines())
                .singleElement()
                .asString()
                .contains("a.yaml is not used: ")
                .endsWith("; its pod stays as it is");

        Files.delete(manifests.resolve("a.yaml"));
        nextRead();
        assertThat(names()).isEmpty();
    }

    /** As a volume with a ConfigMap is updated. */
    @Test
    void read_linkIsSwapped_isTheNewFileWithoutAReport() throws IOException {
        for (String version : List.of("1", "2")) {
            Path data = Files.createDirectory(manifests.resolve("..data-" + version));
            Files.writeString(data.resolve("a.yaml"), manifest("alpha", "nginx:" + version));
        }
        Files.createSymbolicLink(manifests.resolve("..data"), Path.of("..data-1"));
        Files.createSymbolicLink(manifests.resolve("a.yaml"), Path.of("..data/a.yaml"));
        folder.start();

        Path next = Files.createSymbolicLink(manifests.resolve("..data_tmp"), Path.of("..data-2"));
        Files.move(next, manifests.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        nextRead();

        assertThat(pods())
                .singleElement()
                .satisfies(
                        pod -> assertThat(pod.getSpec().getContainers().get(0).getImage())
                                .isEqualTo("nginx:2"));
        assertThat(events.events()).isEmpty();
    }

    @Test
    void close_noFurtherRead() {
        folder.start();

        folder.close();
        nextRead();

        assertThat(received).hasSize(1);
    }
}
