package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.HostPathVolumeSource;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of the kubelet's {@code pkg/volume/hostpath/host_path_test.go}. */
class HostPathTypeTest {

    @TempDir
    Path temp;

    /** What exists, the type, and what upstream says; empty if the check passes. */
    @ParameterizedTest
    @CsvSource({
        "nothing,   '',                ",
        "file,      '',                ",
        "directory, Directory,         ",
        "nothing,   Directory,         a directory",
        "file,      Directory,         a directory",
        "nothing,   DirectoryOrCreate, ",
        "directory, DirectoryOrCreate, ",
        "file,      DirectoryOrCreate, a directory",
        "file,      File,              ",
        "nothing,   File,              a file",
        "directory, File,              a file",
        "nothing,   FileOrCreate,      ",
        "file,      FileOrCreate,      ",
        "directory, FileOrCreate,      a file",
        "socket,    Socket,            ",
        "file,      Socket,            a socket file",
        "socket,    File,              a file",
        "file,      CharDevice,        a character device",
        "file,      BlockDevice,       a block device"
    })
    void check_isUpstreams(String what, String type, String expected) throws IOException {
        Path path = temp.resolve("x");
        switch (what) {
            case "file" -> Files.createFile(path);
            case "directory" -> Files.createDirectory(path);
            case "socket" -> {
                try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                    socket.bind(UnixDomainSocketAddress.of(path));
                }
            }
            default -> {}
        }
        HostPathVolumeSource source = new HostPathVolumeSource(path.toString(), type);

        if (expected == null) {
            assertThatCode(() -> HostPathType.check(source)).doesNotThrowAnyException();
            assertThat(Files.exists(path)).isEqualTo(!what.equals("nothing") || type.endsWith("Create"));
        } else {
            assertThatThrownBy(() -> HostPathType.check(source))
                    .isInstanceOf(IOException.class)
                    .hasMessage("hostPath type check failed: " + path + " is not " + expected);
        }
    }

    @Test
    void check_device_passes() {
        assertThatCode(() -> HostPathType.check(new HostPathVolumeSource("/dev/null", "CharDevice")))
                .doesNotThrowAnyException();
    }

    @Test
    void check_unknownTypeOrParent_isRefused() {
        assertThatThrownBy(() -> HostPathType.check(new HostPathVolumeSource("/tmp", "Pipe")))
                .hasMessage("Pipe is an invalid volume type");
        assertThatThrownBy(() -> HostPathType.check(new HostPathVolumeSource("/tmp/../etc", "")))
                .hasMessage("invalid HostPath `/tmp/../etc`: must not contain '..'");
    }
}
