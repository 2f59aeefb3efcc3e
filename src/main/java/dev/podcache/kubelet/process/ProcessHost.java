package dev.podcache.kubelet.process;

import com.google.common.base.Splitter;
import com.google.common.base.StandardSystemProperty;
import com.google.common.base.Strings;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a machine needs to run containers as processes. */
public final class ProcessHost {

    private static final Logger log = LoggerFactory.getLogger(ProcessHost.class);
    private static final Splitter PATH = Splitter.on(':').omitEmptyStrings();

    private ProcessHost() {}

    /** Returns the user of this process, which all containers have; empty if it is not known. */
    public static OptionalLong user() {
        try {
            return OptionalLong.of(((Number) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).longValue());
        } catch (IOException | RuntimeException e) {
            log.debug("the user of this process is not known", e);
            return OptionalLong.empty();
        }
    }

    /**
     * Returns whether processes can be started, with the version of the kernel.
     *
     * @param directory must be writable
     */
    public static RuntimeStatus health(Path directory) {
        String version = Strings.nullToEmpty(StandardSystemProperty.OS_VERSION.value());
        if (!Files.exists(Path.of("/proc/self/stat"))) {
            return RuntimeStatus.notReady(version, "the process runtime needs Linux with /proc");
        }
        for (String program : new String[] {"sh", "setsid"}) {
            if (!isInstalled(program)) {
                return RuntimeStatus.notReady(
                        version, "program " + program + " not found in PATH; the process runtime needs it");
            }
        }
        if (!Files.isExecutable(Path.of("/usr/bin/env"))) {
            return RuntimeStatus.notReady(version, "/usr/bin/env not found; the process runtime needs it");
        }
        if (!Files.isWritable(directory)) {
            return RuntimeStatus.notReady(version, "directory " + directory + " does not exist or cannot be written");
        }
        return RuntimeStatus.ready(version);
    }

    private static boolean isInstalled(String program) {
        return PATH.splitToStream(Strings.nullToEmpty(System.getenv("PATH")))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
