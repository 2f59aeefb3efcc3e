package dev.podcache.kubelet.agent;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The machine of a hollow node: as its template says, and idle. Immutable. */
record HollowFacts(HollowTemplate template, InetAddress address) implements HostFacts {

    private static final long DISK = 1L << 40;
    private static final long INODES = 1L << 26;
    private static final long PROCESSES = 1L << 22;

    /** Returns the facts of the node with this number, whose address is in 10.128.0.0/9. */
    static HollowFacts of(HollowTemplate template, int number) {
        return new HollowFacts(template, InetAddresses.fromInteger(0x0A80_0001 + number));
    }

    private static Optional<Supply> idle(long capacity) {
        return Optional.of(new Supply(capacity, capacity));
    }

    @Override
    public OptionalInt cores() {
        return OptionalInt.of(template.cores);
    }

    @Override
    public Optional<Supply> memory() {
        return idle(template.memoryBytes);
    }

    @Override
    public Map<Long, Long> hugePages() {
        return Map.of();
    }

    @Override
    public Optional<Supply> fileSystemBytes() {
        return idle(DISK);
    }

    @Override
    public Optional<Supply> fileSystemInodes() {
        return idle(INODES);
    }

    @Override
    public Optional<Supply> processIds() {
        return idle(PROCESSES);
    }

    @Override
    public Optional<String> bootId() {
        return Optional.empty();
    }

    @Override
    public Optional<String> machineId() {
        return Optional.empty();
    }

    @Override
    public Optional<String> systemUuid() {
        return Optional.empty();
    }

    @Override
    public Optional<String> kernelVersion() {
        return Optional.of("hollow");
    }

    @Override
    public Optional<String> osImage() {
        return Optional.of("hollow");
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
        return List.of(address);
    }

    @Override
    public List<InetAddress> defaultRouteAddresses() {
        return List.of(address);
    }
}
