package dev.podcache.kubelet.host;

import dev.podcache.object.OptionalLibrary;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Facts about the machine of a node. Thread-safe.
 *
 * <p>A fact that cannot be read is empty; no method invents a value or throws. Each call reads the machine, which may
 * block for some milliseconds, unless the fact is documented never to change. Returned collections are unmodifiable. A
 * node without {@link #fileSystemBytes} is not ready. A node without {@link #cores} or {@link #memory} has a capacity
 * of zero for both.
 */
public interface HostFacts {

    /**
     * Returns the facts of the machine that this process runs on. In a container, they are the facts of the container's
     * host, except for the file system, the addresses and the machine id, which are the container's.
     *
     * <p>Needs {@code com.github.oshi:oshi-core} on the class path, which is an optional dependency of this library.
     *
     * @param root an existing directory on the file system that pods write to, such as {@code /var/lib/kubelet}
     * @throws IllegalStateException if OSHI is not on the class path
     */
    static HostFacts ofThisMachine(Path root) {
        OptionalLibrary.OSHI.require();
        return new ThisMachine(root);
    }

    /** The total amount of a resource, and the part of it that is not in use. */
    record Supply(long capacity, long available) {}

    /** Returns the number of logical processors, regardless of any limit of this process. */
    OptionalInt cores();

    /** Returns the bytes of main memory; available is the memory usable without swapping, with reclaimable caches. */
    Optional<Supply> memory();

    /** Returns the number of huge pages by page size in KiB, with sizes of which there is no page. */
    Map<Long, Long> hugePages();

    /** Returns the bytes of the file system that pods write to; available is the space usable without privileges. */
    Optional<Supply> fileSystemBytes();

    /** Returns the inodes of the file system that pods write to; empty if it does not count inodes. */
    Optional<Supply> fileSystemInodes();

    /** Returns the number of process ids. Each thread uses one. */
    Optional<Supply> processIds();

    /** Returns the boot id, which is different after each boot of the machine. */
    Optional<String> bootId();

    /** Returns the machine id, which was chosen when the operating system was installed. Never changes. */
    Optional<String> machineId();

    /** Returns the UUID of the hardware or virtual machine. Often only root can read it. Never changes. */
    Optional<String> systemUuid();

    /** Returns the kernel's version, such as {@code 6.1.0-18-amd64}. Never changes. */
    Optional<String> kernelVersion();

    /** Returns the operating system's full name, such as {@code Debian GNU/Linux 12 (bookworm)}. Never changes. */
    Optional<String> osImage();

    /** Returns Go's name of the operating system (GOOS), such as {@code linux}. Never changes. */
    String operatingSystem();

    /** Returns Go's name of the processor architecture (GOARCH), such as {@code amd64}. Never changes. */
    String architecture();

    /** Returns all addresses of all network interfaces that are up, with loopback and link-local, without scopes. */
    List<InetAddress> addresses();

    /** Returns the source addresses of the default routes: at most one of each family, IPv4 first. */
    List<InetAddress> defaultRouteAddresses();
}
