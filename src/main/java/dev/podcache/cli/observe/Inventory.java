package dev.podcache.cli.observe;

import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.Set;

/**
 * What the registered pods refer to, counted.
 *
 * @param pods how many there are
 * @param secrets how many different Secrets they refer to
 * @param configMaps how many different ConfigMaps they refer to
 * @param references how many pairs of a pod and an object that it refers to
 */
record Inventory(int pods, int secrets, int configMaps, int references) {

    static Inventory of(Iterable<Pod> pods) {
        Set<ObjectKey> secrets = new HashSet<>();
        Set<ObjectKey> configMaps = new HashSet<>();
        int count = 0;
        int references = 0;
        for (Pod pod : pods) {
            count++;
            references +=
                    add(PodReferences.secretKeys(pod), secrets) + add(PodReferences.configMapKeys(pod), configMaps);
        }
        return new Inventory(count, secrets.size(), configMaps.size(), references);
    }

    int objects() {
        return secrets + configMaps;
    }

    private static int add(Set<ObjectKey> ofPod, Set<ObjectKey> objects) {
        objects.addAll(ofPod);
        return ofPod.size();
    }
}
