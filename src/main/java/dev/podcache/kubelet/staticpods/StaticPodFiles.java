package dev.podcache.kubelet.staticpods;

import dev.podcache.time.Durations;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where the manifests of a node's static pods are.
 *
 * @param path a folder of manifests, or one manifest; need not exist yet
 * @param checkFrequency how often it is read; positive
 */
public record StaticPodFiles(Path path, Duration checkFrequency) {

    /** The kubelet's default of {@code fileCheckFrequency}. */
    public static final Duration DEFAULT_FREQUENCY = Duration.ofSeconds(20);

    public StaticPodFiles {
        Durations.positive("fileCheckFrequency", checkFrequency);
    }
}
