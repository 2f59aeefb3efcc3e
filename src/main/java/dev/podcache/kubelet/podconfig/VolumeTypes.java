package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Streams;
import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.Optional;

/** Names the types of volumes as in manifests, such as {@code configMap}. */
final class VolumeTypes {

    private VolumeTypes() {}

    /** Returns the type of a volume. Without one, a volume is an {@code emptyDir}. */
    static String of(Volume volume) {
        return typeOf(volume).orElse("emptyDir");
    }

    /** Returns the type of a source of a projected volume, or "" if it has none that this version knows. */
    static String of(VolumeProjection projection) {
        return typeOf(projection).orElse("");
    }

    private static Optional<String> typeOf(Object model) {
        return Streams.stream(ModelJson.tree(model).fieldNames())
                .filter(field -> !field.equals("name"))
                .findFirst();
    }
}
