package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableSet;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * The objects that some pods refer to.
 *
 * @param pods the number of pods
 * @param references the number of pairs of a pod and an object that it refers to
 */
record ReferencedObjects(int pods, int references, ImmutableSet<ObjectId> objects) {

    static ReferencedObjects of(Iterable<Pod> pods) {
        ImmutableSet.Builder<ObjectId> all = ImmutableSet.builder();
        int count = 0;
        int references = 0;
        for (Pod pod : pods) {
            ImmutableSet<ObjectId> objects = of(pod);
            all.addAll(objects);
            count++;
            references += objects.size();
        }
        return new ReferencedObjects(count, references, all.build());
    }

    static ImmutableSet<ObjectId> of(Pod pod) {
        ImmutableSet.Builder<ObjectId> objects = ImmutableSet.builder();
        PodReferences.secretKeys(pod).forEach(key -> objects.add(new ObjectId(ObjectKind.SECRET, key)));
        PodReferences.configMapKeys(pod).forEach(key -> objects.add(new ObjectId(ObjectKind.CONFIG_MAP, key)));
        return objects.build();
    }

    long count(ObjectKind<?> kind) {
        return objects.stream().filter(id -> id.kind().equals(kind)).count();
    }
}
