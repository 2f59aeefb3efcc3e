package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;

/** The objects that some pods refer to. */
record Referenced(ImmutableSet<ObjectKey> secrets, ImmutableSet<ObjectKey> configMaps) {

    static Referenced by(Iterable<Pod> pods) {
        ImmutableSet.Builder<ObjectKey> secrets = ImmutableSet.builder();
        ImmutableSet.Builder<ObjectKey> configMaps = ImmutableSet.builder();
        for (Pod pod : pods) {
            secrets.addAll(PodReferences.secretKeys(pod));
            configMaps.addAll(PodReferences.configMapKeys(pod));
        }
        return new Referenced(secrets.build(), configMaps.build());
    }

    /** Has these forget all other objects. */
    void retainIn(Sightings sightings, Watched watched) {
        sightings.retain(ObjectKind.SECRET, secrets);
        sightings.retain(ObjectKind.CONFIG_MAP, configMaps);
        watched.retain(ObjectKind.SECRET, secrets);
        watched.retain(ObjectKind.CONFIG_MAP, configMaps);
    }
}
