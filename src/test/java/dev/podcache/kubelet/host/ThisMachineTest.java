package dev.podcache.kubelet.host;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.common.base.Splitter;
import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeStatusSetters;
import dev.podcache.testing.RecordedEvents;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares {@link HostFacts#ofThisMachine} with the kernel's files. */
class ThisMachineTest {

    private static final long GIB = 1L << 30;

    @TempDir
    Path root;

    private HostFacts facts() {
        return HostFacts.ofThisMachine(root);
    }

    /** Reads with another program, because some of Java's methods fail for some of the kernel's files. */
    private static String read(String file) throws IOException {
        Process cat = new ProcessBuilder("cat", file).start();
        return new String(cat.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
    }

    private static long kibOfMemory(String row) throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith(row + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void memory_linux_isThatOfMeminfo() throws IOException {
        Supply memory = facts().memory().orElseThrow();
        assertThat(memory.capacity()).isEqualTo(kibOfMemory("MemTotal") * 1024);
        // again if another process took or left so much in between
        await().untilAsserted(() -> assertThat(facts().memory().orElseThrow().available())
                .isCloseTo(kibOfMemory("MemAvailable") * 1024, within(GIB)));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void cores_linux_areThoseOfCpuinfo() throws IOException {
        long processors = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("processor"))
                .count();
        assertThat(facts().cores()).hasValue((int) processors);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void processIds_linux_areThoseOfTheKernelWithoutItsTasks() throws IOException {
        Supply ids = facts().processIds().orElseThrow();
        long limit = Math.min(
                Long.parseLong(read("/proc/sys/kernel/pid_max")), Long.parseLong(read("/proc/sys/kernel/threads-max")));
        assertThat(ids.capacity()).isEqualTo(limit).isGreaterThan(300);
        // again if others started or ended so many in between
        await().untilAsserted(() -> {
            Supply now = facts().processIds().orElseThrow();
            assertThat(now.capacity() - now.available()).isCloseTo(running(), within(200L));
        });
    }

    private static long running() throws IOException {
        String tasks = Splitter.on(' ').splitToList(read("/proc/loadavg")).get(3);
        return Long.parseLong(Splitter.on('/').splitToList(tasks).get(1));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void identity_linux_isThatOfTheKernel() throws IOException {
        HostFacts facts = facts();
        assertThat(facts.bootId()).hasValue(read("/proc/sys/kernel/random/boot_id"));
        assertThat(facts.kernelVersion()).hasValue(read("/proc/sys/kernel/osrelease"));
        assertThat(facts.operatingSystem()).isEqualTo("linux");
        Path machineId = Path.of("/etc/machine-id");
        if (Files.exists(machineId)) {
            assertThat(facts.machineId().orElse("")).isEqualTo(read("/etc/machine-id"));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void hugePages_linux_areThoseOfSys() throws IOException {
        Map<Long, Long> pages = facts().hugePages();
        Path sizes = Path.of("/sys/kernel/mm/hugepages");
        try (var there = Files.list(sizes)) {
            assertThat(pages).hasSize((int) there.count());
        }
        for (Long kib : pages.keySet()) {
            assertThat(read(sizes + "/hugepages-" + kib + "kB/nr_hugepages")).isEqualTo(String.valueOf(pages.get(kib)));
        }
    }

    @Test
    void fileSystem_always_isThatOfTheRoot() throws IOException {
        HostFacts facts = facts();
        Supply bytes = facts.fileSystemBytes().orElseThrow();
        assertThat(bytes.capacity()).isEqualTo(Files.getFileStore(root).getTotalSpace());
        // again if another process wrote or deleted so much in between
        await().untilAsserted(
                        () -> assertThat(facts().fileSystemBytes().orElseThrow().available())
                                .isCloseTo(Files.getFileStore(root).getUsableSpace(), within(GIB)));
        facts.fileSystemInodes()
                .ifPresent(inodes -> assertThat(inodes.available()).isBetween(1L, inodes.capacity()));
    }

    @Test
    void fileSystem_noSuchDirectory_isUnknown() {
        HostFacts facts = HostFacts.ofThisMachine(root.resolve("missing"));
        assertThat(facts.fileSystemBytes()).isEmpty();
        assertThat(facts.fileSystemInodes()).isEmpty();
    }

    @Test
    void addresses_always_haveLoopbackAndNoScopes() {
        assertThat(facts().addresses()).anyMatch(InetAddress::isLoopbackAddress);
        assertThat(facts().addresses())
                .noneMatch(address -> address.getHostAddress().contains("%"));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void setters_ofThisMachine_makeAReadyNode() {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName("here")
                .endMetadata()
                .withNewStatus()
                .endStatus()
                .build();
        HostFacts facts = facts();
        List<InetAddress> usable = facts.defaultRouteAddresses();
        assumeThat(usable).as("addresses of the default route").isNotEmpty();
        String nodeIp = InetAddresses.toAddrString(usable.get(0));
        NodeStatusSetters.standard("here", facts, new RecordedEvents())
                .nodeIps(NodeIps.parse(nodeIp))
                .build()
                .forEach(setter -> setter.set(node, Instant.EPOCH));
        assertThat(node.getStatus().getConditions().get(3).getMessage()).isEqualTo("kubelet is posting ready status");
    }

    @ParameterizedTest
    @CsvSource({
        "Linux, amd64, linux, amd64",
        "Linux, aarch64, linux, arm64",
        "Linux, ppc64le, linux, ppc64le",
        "Linux, i386, linux, 386",
        "Mac OS X, x86_64, darwin, amd64",
        "Windows Server 2022, amd64, windows, amd64"
    })
    void goPlatform_javasNames_areGos(String os, String arch, String goOs, String goArch) {
        assertThat(GoPlatform.operatingSystem(os)).isEqualTo(goOs);
        assertThat(GoPlatform.architecture(arch)).isEqualTo(goArch);
    }
}
