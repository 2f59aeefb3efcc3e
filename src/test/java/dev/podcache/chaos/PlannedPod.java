package dev.podcache.chaos;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.Set;

/** A pod as it is registered: who it is and what it refers to. */
record PlannedPod(String namespace, String name, String uid, int version, Set<CachedObject> references) {

    /** The pod as the API server would return it. */
    Pod pod() {
        PodSpecBuilder spec = new PodSpecBuilder();
        for (CachedObject subject : references) {
            String volume = subject.kind().plural + "-" + subject.name();
            spec = subject.kind() == CachedObject.CachedKind.SECRET
                    ? spec.addNewVolume()
                            .withName(volume)
                            .withNewSecret()
                            .withSecretName(subject.name())
                            .endSecret()
                            .endVolume()
                    : spec.addNewVolume()
                            .withName(volume)
                            .withNewConfigMap()
                            .withName(subject.name())
                            .endConfigMap()
                            .endVolume();
        }
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withUid(uid)
                .withResourceVersion(Integer.toString(version))
                .endMetadata()
                .withSpec(spec.build())
                .build();
    }

    @Override
    public String toString() {
        return name + " (" + uid + ") at " + version;
    }
}
