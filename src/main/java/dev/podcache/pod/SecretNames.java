package dev.podcache.pod;

import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.AzureFileVolumeSource;
import io.fabric8.kubernetes.api.model.CSIVolumeSource;
import io.fabric8.kubernetes.api.model.CephFSVolumeSource;
import io.fabric8.kubernetes.api.model.CinderVolumeSource;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.FlexVolumeSource;
import io.fabric8.kubernetes.api.model.ISCSIVolumeSource;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.RBDVolumeSource;
import io.fabric8.kubernetes.api.model.ScaleIOVolumeSource;
import io.fabric8.kubernetes.api.model.SecretEnvSource;
import io.fabric8.kubernetes.api.model.SecretKeySelector;
import io.fabric8.kubernetes.api.model.SecretProjection;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.StorageOSVolumeSource;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds the names of Secrets in a pod's spec. */
final class SecretNames {

    private final BiConsumer<Usage, @Nullable String> found;

    private SecretNames(BiConsumer<Usage, @Nullable String> found) {
        this.found = found;
    }

    /**
     * Passes each place in {@code spec} that can name a Secret to {@code found}: its usage, and the name, which may be
     * null or empty.
     */
    static void forEach(PodSpec spec, BiConsumer<Usage, @Nullable String> found) {
        SecretNames names = new SecretNames(found);
        for (LocalObjectReference pullSecret : Containers.present(spec.getImagePullSecrets())) {
            found.accept(Usage.PULL, pullSecret.getName());
        }
        Containers.forEachSource(spec, names::environment, names::variable);
        Containers.present(spec.getVolumes()).forEach(names::volume);
    }

    private void environment(EnvFromSource source) {
        named(Usage.ENV, source.getSecretRef(), SecretEnvSource::getName);
    }

    private void variable(EnvVarSource source) {
        named(Usage.ENV, source.getSecretKeyRef(), SecretKeySelector::getName);
    }

    private void volume(Volume volume) {
        named(Usage.VOLUME, volume.getSecret(), SecretVolumeSource::getSecretName);
        named(Usage.VOLUME, volume.getAzureFile(), AzureFileVolumeSource::getSecretName);
        referred(volume.getCephfs(), CephFSVolumeSource::getSecretRef);
        referred(volume.getCinder(), CinderVolumeSource::getSecretRef);
        referred(volume.getCsi(), CSIVolumeSource::getNodePublishSecretRef);
        referred(volume.getFlexVolume(), FlexVolumeSource::getSecretRef);
        referred(volume.getIscsi(), ISCSIVolumeSource::getSecretRef);
        referred(volume.getRbd(), RBDVolumeSource::getSecretRef);
        referred(volume.getScaleIO(), ScaleIOVolumeSource::getSecretRef);
        referred(volume.getStorageos(), StorageOSVolumeSource::getSecretRef);
        if (volume.getProjected() != null) {
            for (VolumeProjection source :
                    Containers.present(volume.getProjected().getSources())) {
                named(Usage.VOLUME, source.getSecret(), SecretProjection::getName);
            }
        }
    }

    private <S> void referred(@Nullable S source, Function<S, LocalObjectReference> reference) {
        if (source != null) {
            named(Usage.VOLUME, reference.apply(source), LocalObjectReference::getName);
        }
    }

    private <S> void named(Usage usage, @Nullable S source, Function<S, String> name) {
        if (source != null) {
            found.accept(usage, name.apply(source));
        }
    }
}
