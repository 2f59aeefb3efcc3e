package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.VolumeFile;
import java.util.Map;

/**
 * The volumes of a pod, each resolved by itself: a failure of one volume does not affect the others. Immutable; both
 * maps are copied, unmodifiable, and in the order of the pod's spec. {@link #toString} shows no content.
 *
 * @param files the files by path, for each volume that could be resolved, as {@link
 *     dev.podcache.kubelet.runtime.PodRuntime#mount} needs them
 * @param failures why the other volumes could not be resolved
 */
public record PodVolumes(Map<String, Map<String, VolumeFile>> files, Map<String, PodConfigException> failures) {

    public PodVolumes {
        files = ImmutableMap.copyOf(files);
        failures = ImmutableMap.copyOf(failures);
    }
}
