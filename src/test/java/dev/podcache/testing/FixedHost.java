package dev.podcache.testing;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The facts of a host with two cores and 8 GiB of memory that never changes. */
public final class FixedHost implements HostFacts {

    private static final long GIB = 1L << 30;

    @Override
    public OptionalInt cores() {
        return OptionalInt.of(2);
    }

    @Override
    public Optional<Supply> memory() {
        return Optional.of(new Supply(8 * GIB, 6 * GIB));
    }

    @Override
    public Map<Long, Long> hugePages() {
        return Map.of();
    }

    @Override
    public Optional<Supply> fileSystemBytes() {
        return Optional.of(new Supply(100 * GIB, 60 * GIB));
    }

    @Override
    public Optional<Supply> fileSystemInodes() {
        return Optional.of(new Supply(1_000_000, 900_000));
    }

    @Override
    public Optional<Supply> processIds() {
        return Optional.of(new Supply(32_768, 32_000));
    }

    @Override
    public Optional<String> bootId() {
        return Optional.of("boot-1");
    }

    @Override
    public Optional<String> machineId() {
        return Optional.of("machine-1");
    }

    @Override
    public Optional<String> systemUuid() {
        return Optional.of("system-1");
    }

    @Override
    public Optional<String> kernelVersion() {
        return Optional.of("6.1.0");
    }

    @Override
    public Optional<String> osImage() {
        return Optional.of("Test OS 1");
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
        return List.of(InetAddresses.forString("192.0.2.7"));
    }

    @Override
    public List<InetAddress> defaultRouteAddresses() {
        return addresses();
    }
}
