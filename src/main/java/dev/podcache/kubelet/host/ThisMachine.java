package dev.podcache.kubelet.host;

import com.google.common.base.CharMatcher;
import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Longs;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import oshi.SystemInfo;
import oshi.hardware.HardwareAbstractionLayer;
import oshi.software.os.OSFileStore;
import oshi.software.os.OperatingSystem;

/** Reads {@link HostFacts} with OSHI and the JDK, and the rest from {@code /proc} and {@code /sys}. */
final class ThisMachine implements HostFacts {

    private static final Path KERNEL = Path.of("/proc/sys/kernel");
    private static final Path HUGE_PAGES = Path.of("/sys/kernel/mm/hugepages");
    private static final Path LOAD = Path.of("/proc/loadavg");
    private static final Pattern TASKS = Pattern.compile("/(\\d+)");
    private static final CharMatcher DIGITS = CharMatcher.inRange('0', '9');

    private final Path root;
    private final HardwareAbstractionLayer hardware;
    private final OperatingSystem system;
    private final Supplier<Optional<String>> systemUuid;
    private final HostNetwork network = new HostNetwork();

    ThisMachine(Path root) {
        this.root = root;
        SystemInfo machine = new SystemInfo();
        this.hardware = machine.getHardware();
        this.system = machine.getOperatingSystem();
        this.systemUuid = Suppliers.memoize(
                () -> known(hardware.getComputerSystem().getHardwareUUID()).map(text -> text.toLowerCase(Locale.ROOT)));
    }

    @Override
    public OptionalInt cores() {
        int cores = hardware.getProcessor().getLogicalProcessorCount();
        return cores > 0 ? OptionalInt.of(cores) : OptionalInt.empty();
    }

    @Override
    public Optional<Supply> memory() {
        return supply(hardware.getMemory().getTotal(), hardware.getMemory().getAvailable());
    }

    @Override
    public Map<Long, Long> hugePages() {
        ImmutableMap.Builder<Long, Long> pages = ImmutableMap.builder();
        try (DirectoryStream<Path> sizes = Files.newDirectoryStream(HUGE_PAGES, "hugepages-*kB")) {
            for (Path size : sizes) {
                number(size.resolve("nr_hugepages"))
                        .ifPresent(count -> pages.put(
                                Long.valueOf(
                                        DIGITS.retainFrom(size.getFileName().toString())),
                                count));
            }
        } catch (IOException e) {
            return ImmutableMap.of();
        }
        return pages.buildOrThrow();
    }

    @Override
    public Optional<Supply> fileSystemBytes() {
        try {
            FileStore store = Files.getFileStore(root);
            return supply(store.getTotalSpace(), store.getUsableSpace());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<Supply> fileSystemInodes() {
        try {
            Path real = root.toRealPath();
            long bytes = Files.getFileStore(root).getTotalSpace();
            // OSHI omits some mounts, and the mount above then seems to match; a different size shows that
            return system.getFileSystem().getFileStores(true).stream()
                    .filter(store -> real.startsWith(store.getMount()))
                    .max(Comparator.comparingInt(store -> store.getMount().length()))
                    .filter(store -> store.getTotalSpace() == bytes)
                    .flatMap(ThisMachine::inodes);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Optional<Supply> inodes(OSFileStore store) {
        return supply(store.getTotalInodes(), store.getFreeInodes());
    }

    @Override
    public Optional<Supply> processIds() {
        Optional<Long> limit = Stream.of("pid_max", "threads-max")
                .flatMap(file -> number(KERNEL.resolve(file)).stream())
                .min(Comparator.naturalOrder());
        return limit.flatMap(ids -> tasks().flatMap(tasks -> supply(ids, Math.max(0, ids - tasks))));
    }

    /** Reads the number of threads: 80 in {@code 0.20 0.18 0.12 1/80 11206}. OSHI's number wraps at 65536. */
    private static Optional<Long> tasks() {
        return text(LOAD).map(TASKS::matcher).filter(Matcher::find).map(found -> Long.valueOf(found.group(1)));
    }

    @Override
    public Optional<String> bootId() {
        return text(KERNEL.resolve("random/boot_id"));
    }

    @Override
    public Optional<String> machineId() {
        return Stream.of("/etc/machine-id", "/var/lib/dbus/machine-id")
                .flatMap(file -> text(Path.of(file)).stream())
                .findFirst();
    }

    @Override
    public Optional<String> systemUuid() {
        return systemUuid.get();
    }

    @Override
    public Optional<String> kernelVersion() {
        return known(System.getProperty("os.version", ""));
    }

    @Override
    public Optional<String> osImage() {
        String version =
                Optional.ofNullable(system.getVersionInfo().getVersion()).orElse("");
        String codeName =
                Optional.ofNullable(system.getVersionInfo().getCodeName()).orElse("");
        String image = system.getFamily() + " " + version + (codeName.isEmpty() ? "" : " (" + codeName + ")");
        return known(image.trim());
    }

    @Override
    public String operatingSystem() {
        return GoPlatform.operatingSystem(System.getProperty("os.name"));
    }

    @Override
    public String architecture() {
        return GoPlatform.architecture(System.getProperty("os.arch"));
    }

    @Override
    public List<InetAddress> addresses() {
        return network.addresses();
    }

    @Override
    public List<InetAddress> defaultRouteAddresses() {
        return network.defaultRouteAddresses();
    }

    private static Optional<Supply> supply(long capacity, long available) {
        return capacity > 0 ? Optional.of(new Supply(capacity, available)) : Optional.empty();
    }

    private static Optional<Long> number(Path file) {
        return text(file).flatMap(text -> Optional.ofNullable(Longs.tryParse(text)));
    }

    /**
     * Reads the first line of a file with one system call. A number in {@code /proc/sys} cannot be read in pieces, but
     * {@code Files.readString} first reads a single byte of a file whose size is reported as 0.
     */
    private static Optional<String> text(Path file) {
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            String line = lines.readLine();
            return line == null ? Optional.empty() : known(line.trim());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns {@code fact}, or empty if it is OSHI's "unknown" for a fact that it cannot read. */
    private static Optional<String> known(String fact) {
        return fact.isBlank() || fact.equalsIgnoreCase("unknown") ? Optional.empty() : Optional.of(fact);
    }
}
