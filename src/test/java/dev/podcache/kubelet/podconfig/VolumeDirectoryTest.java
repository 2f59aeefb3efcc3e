package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class VolumeDirectoryTest {

    @TempDir
    Path temp;

    private Path root = Path.of(".");
    private final List<Path> cleanup = new ArrayList<>();
    private VolumeDirectory directory = new VolumeDirectory(root, new ManualTimekeeper());

    @BeforeEach
    void setUp() {
        root = temp.resolve("pods");
        directory = new VolumeDirectory(root, new ManualTimekeeper());
    }

    @Test
    void mount_payloads_areAtThePathOfTheVolume() throws IOException {
        Pod pod = pod(secret("cert"), configMap("settings"));

        directory.mount(pod, Map.of("cert", files("tls/key", "K"), "settings", files("a", "1", "b", "2")));

        assertThat(directory.path(pod, whole("cert"))).isEqualTo(root.resolve("uid-1/volumes/cert"));
        assertThat(read("cert/tls/key")).isEqualTo("K");
        assertThat(read("settings/a") + read("settings/b")).isEqualTo("12");
        assertThat(mode(root.resolve("uid-1"))).isEqualTo("rwxr-x---");
        assertThat(mode(root.resolve("uid-1/volumes"))).isEqualTo("rwxr-x---");
    }

    @Test
    void mount_removedKeyAndNewMode_areApplied() throws IOException {
        Pod pod = pod(secret("cert"));
        directory.mount(pod, Map.of("cert", files("a", "1", "b", "1")));

        directory.mount(pod, Map.of("cert", Map.of("a", VolumeFile.of(new byte[] {'2'}, 0400))));

        Path volume = directory.path(pod, whole("cert"));
        assertThat(volume.resolve("b")).doesNotExist();
        assertThat(read("cert/a")).isEqualTo("2");
        assertThat(mode(volume.resolve("a"))).isEqualTo("r--------");
    }

    /** One missing ConfigMap does not remove the files that the pod has. */
    @Test
    void mount_volumeThatIsLeftOut_stays() throws IOException {
        Pod pod = pod(secret("cert"), configMap("settings"));
        directory.mount(pod, Map.of("cert", files("a", "1"), "settings", files("b", "1")));

        directory.mount(pod, Map.of("cert", files("a", "2")));

        assertThat(read("cert/a")).isEqualTo("2");
        assertThat(read("settings/b")).isEqualTo("1");
    }

    @Test
    void mount_oneVolumeFails_othersAreWrittenAndAllFailuresAreNamed() {
        Pod pod = pod(secret("bad"), secret("cert"), nfs("share"));

        assertThatThrownBy(() -> directory.mount(pod, Map.of("bad", files("../x", "1"), "cert", files("a", "1"))))
                .isInstanceOf(IOException.class)
                .hasMessage("volume bad: invalid path: must not contain '..': ../x")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .asString()
                        .endsWith("volume share: volumes of type nfs are not supported on this node"));
        assertThat(root.resolve("uid-1/volumes/cert/a")).hasContent("1");
        assertThat(root.resolve("uid-1/volumes/x")).doesNotExist();
    }

    @Test
    void mount_whileAReaderReads_showsOnePayloadAsAWhole() throws Exception {
        Pod pod = pod(secret("cert"));
        directory.mount(pod, Map.of("cert", files("a", "0", "b", "0")));
        Path volume = directory.path(pod, whole("cert"));
        AtomicBoolean over = new AtomicBoolean();
        Set<String> seen = ConcurrentHashMap.newKeySet();
        CompletableFuture<Void> reader =
                CompletableFuture.runAsync(() -> readPairs(volume, over, seen), NewThread.EACH);

        for (int i = 1; (i <= 200 || (seen.size() < 30 && i <= 10_000)) && !reader.isDone(); i++) {
            directory.mount(pod, Map.of("cert", files("a", "" + i, "b", "" + i)));
        }
        over.set(true);

        reader.get(60, TimeUnit.SECONDS);
        assertThat(seen).as("payloads that the reader saw").hasSizeGreaterThanOrEqualTo(30);
    }

    /** Reads both files through one version, as a container does that opens the directory once. */
    private static void readPairs(Path volume, AtomicBoolean over, Set<String> seen) {
        while (!over.get()) {
            try {
                Path version = volume.resolve(Files.readSymbolicLink(volume.resolve("..data")));
                try {
                    String a = Files.readString(version.resolve("a"));
                    assertThat(Files.readString(version.resolve("b"))).isEqualTo(a);
                    seen.add(a);
                } catch (IOException replaced) {
                    assertThat(volume.resolve(Files.readSymbolicLink(volume.resolve("..data"))))
                            .isNotEqualTo(version);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void mount_emptyDir_isWritableAndKeepsItsFiles() throws IOException {
        Pod pod = pod(emptyDir("data", ""));
        directory.mount(pod, Map.of());
        Path data = directory.path(pod, whole("data"));
        Files.writeString(data.resolve("mine"), "x");

        directory.mount(pod, Map.of());

        assertThat(mode(data)).isEqualTo("rwxrwxrwx");
        assertThat(data.resolve("mine")).hasContent("x");
    }

    @Test
    void mount_volumeWithoutSource_isAnEmptyDir() throws IOException {
        Pod pod = pod(new VolumeBuilder().withName("data").build());

        directory.mount(pod, Map.of());

        assertThat(directory.path(pod, whole("data"))).isDirectory();
    }

    /** Returns a new directory on a tmpfs. */
    private Path memory() throws IOException {
        Path shm = Path.of("/dev/shm");
        assumeTrue(Files.isWritable(shm) && Files.getFileStore(shm).type().equals("tmpfs"), "no tmpfs at /dev/shm");
        Path made = Files.createTempDirectory(shm, "podcache");
        cleanup.add(made);
        return made;
    }

    @Test
    void mount_memory_keepsSecretsOffTheDisk() throws IOException {
        Path memory = memory().resolve("node");
        VolumeDirectory both = new VolumeDirectory(root, memory, new ManualTimekeeper());
        Pod pod = pod(secret("cert"), configMap("settings"), emptyDir("fast", "Memory"), emptyDir("slow", ""));

        both.mount(pod, Map.of("cert", files("a", "1"), "settings", files("b", "1")));

        assertThat(both.path(pod, whole("cert"))).isEqualTo(memory.resolve("uid-1/volumes/cert"));
        assertThat(both.path(pod, whole("fast"))).isDirectory().startsWith(memory);
        assertThat(both.path(pod, part("fast", "a/b"))).isDirectory();
        assertThat(both.path(pod, whole("slow"))).isDirectory().startsWith(root);
        assertThat(both.path(pod, whole("settings"))).startsWith(root);
        assertThat(mode(memory)).isEqualTo("rwxr-x---");

        both.remove(PodReferences.key(pod));
        assertThat(memory).isEmptyDirectory();
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void memory_onADisk_isRefused() throws IOException {
        assumeFalse(Files.getFileStore(temp).type().equals("tmpfs"), "temporary files are in memory");

        assertRefused(temp.resolve("shm"), "is on a disk, not on a tmpfs");
        assertRefused(Files.createFile(temp.resolve("file")), "is a link or no directory");
        assertRefused(temp.resolve("file/shm"), "cannot be used");
    }

    @Test
    void memory_isALink_isRefusedAndItsTargetStays() throws IOException {
        Path memory = memory();
        Path target = Files.createDirectory(memory.resolve("target"));
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link = Files.createSymbolicLink(memory.resolve("link"), target);

        assertRefused(link, "is a link or no directory");

        assertThat(mode(target)).isEqualTo("rwxrwxrwx");
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void memory_ofAnotherUser_isRefusedAndStays() throws IOException {
        Path memory = memory();
        assumeTrue(mayChangeOwners(), "this process may not make a directory of another user");
        Files.setAttribute(memory, "unix:uid", 65_532);
        Files.setPosixFilePermissions(memory, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertRefused(memory, "belongs to another user");

        assertThat(mode(memory)).isEqualTo("rwxrwxrwx");
    }

    @Test
    void mount_memoryBecameALink_isRefused() throws IOException {
        Path memory = memory().resolve("node");
        VolumeDirectory both = new VolumeDirectory(root, memory, new ManualTimekeeper());
        Files.delete(memory);
        Files.createSymbolicLink(memory, Files.createDirectory(temp.resolve("disk")));

        assertThatThrownBy(() -> both.mount(pod(secret("cert")), Map.of("cert", files("a", "1"))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is a link or no directory");

        assertThat(temp.resolve("disk")).isEmptyDirectory();
        assertThat(root).doesNotExist();
    }

    private void assertRefused(Path memory, String why) {
        assertThatThrownBy(() -> new VolumeDirectory(root, memory, new ManualTimekeeper()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why)
                .hasMessageContaining("/dev/shm/podcache");
    }

    @Test
    void mount_fsGroup_ownsFilesAndMayReadThem() throws IOException {
        int group = mayChangeOwners() ? 2000 : (Integer) Files.getAttribute(temp, "unix:gid");
        Pod pod = withGroup(group, secret("cert"), emptyDir("data", ""));

        directory.mount(pod, Map.of("cert", Map.of("d/key", VolumeFile.of(new byte[] {'1'}, 0600))));
        Object before = Files.readSymbolicLink(root.resolve("uid-1/volumes/cert/..data"));
        directory.mount(pod, Map.of("cert", Map.of("d/key", VolumeFile.of(new byte[] {'1'}, 0600))));

        Path cert = directory.path(pod, whole("cert"));
        assertThat(Files.readSymbolicLink(cert.resolve("..data"))).isEqualTo(before);
        assertThat(mode(cert.resolve("d/key"))).isEqualTo("rw-r-----");
        assertThat(Files.getAttribute(cert.resolve("d/key"), "unix:gid")).isEqualTo(group);
        assertThat(fullMode(cert.resolve("d"))).isEqualTo("2755");
        assertThat(fullMode(directory.path(pod, whole("data")))).isEqualTo("2777");
    }

    @Test
    void mount_groupThatThisProcessMayNotSet_isLoggedOnceAndChangesNothing(NoLeaks leaks) throws IOException {
        assumeFalse(mayChangeOwners(), "this process may set every group");
        leaks.allowWarnings("cannot set fsGroup 2000 of volume files");
        Pod pod = withGroup(2000, secret("cert"), emptyDir("data", ""));

        directory.mount(pod, Map.of("cert", Map.of("key", VolumeFile.of(new byte[] {'1'}, 0600))));

        assertThat(mode(directory.path(pod, whole("cert")).resolve("key"))).isEqualTo("rw-------");
        assertThat(fullMode(directory.path(pod, whole("data")))).isEqualTo("777");
    }

    @Test
    void mount_fileOfAUser_belongsToThatUser() throws IOException {
        int user = mayChangeOwners() ? 1000 : (Integer) Files.getAttribute(temp, "unix:uid");
        Pod pod = pod(secret("cert"));

        directory.mount(
                pod,
                Map.of(
                        "cert",
                        Map.of("token", VolumeFile.of(new byte[] {'1'}, 0600).ownedBy(user))));

        assertThat(Files.getAttribute(directory.path(pod, whole("cert")).resolve("token"), "unix:uid"))
                .isEqualTo(user);
    }

    @Test
    void path_subPathOfPayload_followsUpdates() throws IOException {
        Pod pod = pod(secret("cert"));
        directory.mount(pod, Map.of("cert", files("tls/key", "1")));
        Path key = directory.path(pod, part("cert", "tls/key"));
        directory.mount(pod, Map.of("cert", files("tls/key", "2")));

        assertThat(key).hasContent("2");
        assertThatThrownBy(() -> directory.path(pod, part("cert", "none")))
                .hasMessageContaining("the volume has no such file");
    }

    @Test
    void path_subPathOfEmptyDir_isCreatedWithItsMode() throws IOException {
        Pod pod = pod(emptyDir("data", ""));
        directory.mount(pod, Map.of());

        Path path = directory.path(pod, part("data", "logs//./web"));

        assertThat(path).isDirectory().isEqualTo(root.toRealPath().resolve("uid-1/volumes/data/logs/web"));
        assertThat(mode(path)).isEqualTo("rwxrwxrwx");
    }

    @Test
    void path_unknownVolumeOrParent_isRefused() throws IOException {
        Pod pod = pod(emptyDir("data", ""));
        directory.mount(pod, Map.of());

        assertThatThrownBy(() -> directory.path(pod, whole("other"))).hasMessage("the pod has no volume other");
        assertThatThrownBy(() -> directory.path(pod, part("data", "a/../../x"))).hasMessageContaining("'..'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", ".", "a/b", "/etc", "a\0b"})
    void mount_uidThatIsNoName_isRefused(String uid) {
        Pod pod = new PodBuilder(pod(emptyDir("data", "")))
                .editMetadata()
                .withUid(uid)
                .endMetadata()
                .build();

        assertThatThrownBy(() -> directory.mount(pod, Map.of())).hasMessageContaining("not the name of a directory");
        assertThatThrownBy(() -> directory.remove(PodReferences.key(pod))).isInstanceOf(IOException.class);
    }

    @Test
    void remove_deletesAllOfThePod_andFollowsNoLink() throws IOException {
        Pod pod = pod(secret("cert"), emptyDir("data", ""));
        directory.mount(pod, Map.of("cert", files("a", "1")));
        Path outside = Files.createDirectory(temp.resolve("outside"));
        Files.writeString(outside.resolve("keep"), "x");
        Files.createSymbolicLink(directory.path(pod, whole("data")).resolve("out"), outside);

        directory.remove(PodReferences.key(pod));
        directory.remove(PodReferences.key(pod));

        assertThat(root).isEmptyDirectory();
        assertThat(outside.resolve("keep")).exists();
    }

    @Test
    void remove_secretsGoFirst_andTheRestIsTried() throws IOException {
        Pod pod = pod(secret("cert"), emptyDir("data", ""));
        directory.mount(pod, Map.of("cert", files("a", "1")));
        Path data = directory.path(pod, whole("data"));
        Path left = Files.createDirectory(data.resolve("a"));
        Files.createFile(left.resolve("immutable"));
        assumeTrue(immutable("+i", left.resolve("immutable")), "no immutable files here");
        try {
            assertThatThrownBy(() -> directory.remove(PodReferences.key(pod)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("not everything");
            assertThat(root.resolve("uid-1/volumes/cert")).doesNotExist();
            assertThat(root.resolve("uid-1")).exists();
        } finally {
            try (Stream<Path> all = Files.walk(root)) {
                for (Path each : all.filter(Files::isRegularFile).toList()) {
                    immutable("-i", each);
                }
            }
        }
        directory.remove(PodReferences.key(pod));
        assertThat(root).isEmptyDirectory();
    }

    private static boolean immutable(String flag, Path file) throws IOException {
        try {
            return new ProcessBuilder("chattr", flag, file.toString()).start().waitFor() == 0;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private String read(String path) throws IOException {
        return Files.readString(root.resolve("uid-1/volumes").resolve(path));
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static String fullMode(Path path) throws IOException {
        return Integer.toOctalString((Integer) Files.getAttribute(path, "unix:mode") & 07777);
    }

    private boolean mayChangeOwners() throws IOException {
        Path file = Files.createTempFile(temp, "owner", "");
        try {
            Files.setAttribute(file, "unix:gid", 2000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static Pod withGroup(int group, Volume... volumes) {
        return new PodBuilder(pod(volumes))
                .editSpec()
                .withNewSecurityContext()
                .withFsGroup((long) group)
                .endSecurityContext()
                .endSpec()
                .build();
    }

    private static VolumeMountPoint whole(String volume) {
        return part(volume, "");
    }

    private static VolumeMountPoint part(String volume, String subPath) {
        return new VolumeMountPoint(volume, "/x", subPath, false);
    }

    @AfterEach
    void deleteMemory() throws IOException {
        for (Path each : cleanup) {
            Removal.of(each);
        }
    }

    private static Map<String, VolumeFile> files(String... pathsAndTexts) {
        Map<String, VolumeFile> files = new LinkedHashMap<>();
        for (int i = 0; i < pathsAndTexts.length; i += 2) {
            files.put(pathsAndTexts[i], VolumeFile.of(pathsAndTexts[i + 1].getBytes(StandardCharsets.UTF_8), 0644));
        }
        return files;
    }

    private static Pod pod(Volume... volumes) {
        return new PodBuilder(PodConfigFixture.pod("test1", new Container()))
                .editSpec()
                .withVolumes(volumes)
                .endSpec()
                .build();
    }

    private static Volume secret(String name) {
        return new VolumeBuilder()
                .withName(name)
                .withNewSecret()
                .withSecretName(name)
                .endSecret()
                .build();
    }

    private static Volume configMap(String name) {
        return new VolumeBuilder()
                .withName(name)
                .withNewConfigMap()
                .withName(name)
                .endConfigMap()
                .build();
    }

    private static Volume nfs(String name) {
        return new VolumeBuilder()
                .withName(name)
                .withNewNfs()
                .withPath("/x")
                .endNfs()
                .build();
    }

    private static Volume emptyDir(String name, String medium) {
        return new VolumeBuilder()
                .withName(name)
                .withNewEmptyDir()
                .withMedium(medium)
                .endEmptyDir()
                .build();
    }
}
