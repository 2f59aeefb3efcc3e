package dev.podcache.kubelet.host;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What there is to know of the machine that the node stands for. Thread-safe.
 *
 * <p>A fact that cannot be read is empty, never invented and never an exception. Methods read the machine when they are
 * called, which may block for some milliseconds, unless they say that the fact never changes. A node without
 * {@link #fileSystemBytes} is not ready, one without {@link #cores} or {@link #memory} offers neither.
 */
public interface HostFacts {

    /**
     * Those of the machine that this process runs on. In a container these are its host's, except for the file system,
     * the addresses and the machine id, which are those that the container sees.
     *
     * <p>Needs {@code com.github.oshi:oshi-core} on the class path, which is an optional dependency of this library.
     *
     * @param root an existing directory on the file system that pods will write to, such as {@code /var/lib/kubelet}
     */
    static HostFacts ofThisMachine(Path root) {
        return new ThisMachine(root);
    }

    /** How much there is of something, and how much of that nobody uses yet. */
    record Supply(long capacity, long available) {}

    /** Logical processors, regardless of any limit of this process. */
    OptionalInt cores();

    /** Bytes of main memory; available is what can be had without swapping, reclaimable caches included. */
    Optional<Supply> memory();

    /** Pages of each size of huge pages, by the size in KiB; sizes without a page included. */
    ImmutableMap<Long, Long> hugePages();

    /** Bytes of the file system that pods write to; available is what an ordinary user may still take. */
    Optional<Supply> fileSystemBytes();

    /** Inodes of the same file system; empty if it does not count them. */
    Optional<Supply> fileSystemInodes();

    /** Process ids, of which each thread takes one. */
    Optional<Supply> processIds();

    /** Different after each boot of the machine. */
    Optional<String> bootId();

    /** Chosen when the operating system was installed. Never changes. */
    Optional<String> machineId();

    /** Burnt into the machine, or chosen by its hypervisor. Often only root may read it. Never changes. */
    Optional<String> systemUuid();

    /** Such as {@code 6.1.0-18-amd64}. Never changes. */
    Optional<String> kernelVersion();

    /** The operating system for people, such as {@code Debian GNU/Linux 12 (bookworm)}. Never changes. */
    Optional<String> osImage();

    /** The operating system as Go calls it, such as {@code linux}. Never changes. */
    String operatingSystem();

    /** The processors' architecture as Go calls it, such as {@code amd64}. Never changes. */
    String architecture();

    /** All addresses of all network interfaces that are up, loopback and link-local ones included, without scopes. */
    ImmutableList<InetAddress> addresses();

    /** Which of them packets to the rest of the world are sent from: at most one of each family, IPv4 first. */
    ImmutableList<InetAddress> defaultRouteAddresses();
}
