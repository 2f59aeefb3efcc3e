package dev.podcache.kubelet.process;

import java.time.Instant;

/**
 * The content of {@code container.json}: what is known about a container when it starts. Immutable.
 *
 * @param id the container ID
 * @param startedMillis the time of the start in milliseconds since 1970
 * @param workingDirectory absolute
 */
record ContainerRecord(String id, String image, int restartCount, long startedMillis, String workingDirectory) {

    Instant startedAt() {
        return Instant.ofEpochMilli(startedMillis);
    }
}
