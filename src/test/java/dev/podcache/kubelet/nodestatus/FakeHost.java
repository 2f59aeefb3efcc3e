package dev.podcache.kubelet.nodestatus;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** A machine of two cores whose facts a test sets. */
public final class FakeHost implements HostFacts {

    OptionalInt cores = OptionalInt.of(2);
    public Optional<Supply> memory = Optional.of(new Supply(1024, 1024));
    Map<Long, Long> hugePages = Map.of();
    public Optional<Supply> bytes = Optional.of(new Supply(5000, 5000));
    public Optional<Supply> inodes = Optional.of(new Supply(1000, 1000));
    public Optional<Supply> processIds = Optional.of(new Supply(1000, 1000));
    Optional<String> bootId = Optional.of("boot");
    Optional<String> kernelVersion = Optional.of("KernelVersion");
    Optional<String> osImage = Optional.of("ContainerOSVersion");
    public List<InetAddress> addresses = List.of();
    public List<InetAddress> defaultRoutes = List.of();

    /** Sets the addresses. */
    FakeHost withAddresses(String... texts) {
        addresses = ips(texts);
        return this;
    }

    static List<InetAddress> ips(String... texts) {
        return Arrays.stream(texts).map(InetAddresses::forString).toList();
    }

    @Override
    public OptionalInt cores() {
        return cores;
    }

    @Override
    public Optional<Supply> memory() {
        return memory;
    }

    @Override
    public Map<Long, Long> hugePages() {
        return hugePages;
    }

    @Override
    public Optional<Supply> fileSystemBytes() {
        return bytes;
    }

    @Override
    public Optional<Supply> fileSystemInodes() {
        return inodes;
    }

    @Override
    public Optional<Supply> processIds() {
        return processIds;
    }

    @Override
    public Optional<String> bootId() {
        return bootId;
    }

    @Override
    public Optional<String> machineId() {
        return Optional.of("MachineID");
    }

    @Override
    public Optional<String> systemUuid() {
        return Optional.of("SystemUUID");
    }

    @Override
    public Optional<String> kernelVersion() {
        return kernelVersion;
    }

    @Override
    public Optional<String> osImage() {
        return osImage;
    }

    @Override
    public String operatingSystem() {
        return "linux";
    }

    @Override
    public String architecture() {
        return "amd64";
    }

    @Override
    public List<InetAddress> addresses() {
        return addresses;
    }

    @Override
    public List<InetAddress> defaultRouteAddresses() {
        return defaultRoutes;
    }
}
