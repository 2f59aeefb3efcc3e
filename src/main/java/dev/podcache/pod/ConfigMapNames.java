package dev.podcache.pod;

import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.ConfigMapEnvSource;
import io.fabric8.kubernetes.api.model.ConfigMapKeySelector;
import io.fabric8.kubernetes.api.model.ConfigMapProjection;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds the names of ConfigMaps in a pod's spec. */
final class ConfigMapNames {

    private final BiConsumer<Usage, @Nullable String> found;

    private ConfigMapNames(BiConsumer<Usage, @Nullable String> found) {
        this.found = found;
    }

    /**
     * Passes each place in {@code spec} that can name a ConfigMap to {@code found}: its usage, and the name, which may
     * be null or empty.
     */
    static void forEach(PodSpec spec, BiConsumer<Usage, @Nullable String> found) {
        ConfigMapNames names = new ConfigMapNames(found);
        Containers.forEachSource(spec, names::environment, names::variable);
        Containers.present(spec.getVolumes()).forEach(names::volume);
    }

    private void environment(EnvFromSource source) {
        named(Usage.ENV, source.getConfigMapRef(), ConfigMapEnvSource::getName);
    }

    private void variable(EnvVarSource source) {
        named(Usage.ENV, source.getConfigMapKeyRef(), ConfigMapKeySelector::getName);
    }

    private void volume(Volume volume) {
        named(Usage.VOLUME, volume.getConfigMap(), ConfigMapVolumeSource::getName);
        if (volume.getProjected() != null) {
            for (VolumeProjection source :
                    Containers.present(volume.getProjected().getSources())) {
                named(Usage.VOLUME, source.getConfigMap(), ConfigMapProjection::getName);
            }
        }
    }

    private <S> void named(Usage usage, @Nullable S source, Function<S, String> name) {
        if (source != null) {
            found.accept(usage, name.apply(source));
        }
    }
}
