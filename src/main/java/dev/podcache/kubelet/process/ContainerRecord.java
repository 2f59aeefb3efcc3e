package dev.podcache.kubelet.process;

import com.google.common.base.Strings;
import java.time.Instant;

/**
 * The content of {@code container.json}: what is known about a container when it starts. Immutable.
 *
 * @param id the container ID
 * @param startedMillis the time of the start in milliseconds since 1970
 * @param workingDirectory absolute
 * @param messagePath the container's {@code terminationMessagePath}; "" if it has none
 * @param messageFromOutput whether the end of the output is the message of a container that failed without another one
 */
record ContainerRecord(
        String id,
        String image,
        int restartCount,
        long startedMillis,
        String workingDirectory,
        String messagePath,
        boolean messageFromOutput) {

    ContainerRecord {
        // of a container that an earlier version started
        messagePath = Strings.nullToEmpty(messagePath);
    }

    Instant startedAt() {
        return Instant.ofEpochMilli(startedMillis);
    }
}
