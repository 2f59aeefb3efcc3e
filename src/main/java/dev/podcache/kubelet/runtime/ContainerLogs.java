package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the output of containers, for {@code kubectl logs}. A {@link PodRuntime} that keeps it implements this, too. */
public interface ContainerLogs {

    /**
     * Returns the standard output and standard error of a container, in the order in which they were written. The
     * stream ends at the end of the output, or with {@link LogOptions#follow}, when the container has ended. A read may
     * block. The caller closes the stream, also while a read blocks; the read then ends.
     *
     * @throws java.nio.file.NoSuchFileException if there is no such output; its message is shown to the user
     * @throws IOException if the output cannot be read
     */
    InputStream logs(PodKey pod, String container, LogOptions options) throws IOException;

    /**
     * The part of the output to return. Immutable.
     *
     * @param follow whether to wait for further output
     * @param previous whether to return the output of the instance before the last restart
     * @param timestamps whether each line begins with its time in RFC 3339 format with nanoseconds, and a space
     * @param tailLines the number of lines at the end to return; empty for all
     * @param since returns only lines written at or after this time; empty for all
     */
    record LogOptions(
            boolean follow, boolean previous, boolean timestamps, OptionalLong tailLines, Optional<Instant> since) {

        /** All output of the current instance. */
        public static final LogOptions ALL =
                new LogOptions(false, false, false, OptionalLong.empty(), Optional.empty());
    }
}
