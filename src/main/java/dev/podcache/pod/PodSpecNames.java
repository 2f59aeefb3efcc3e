package dev.podcache.pod;

import com.google.common.collect.Iterables;
import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.AzureFileVolumeSource;
import io.fabric8.kubernetes.api.model.CSIVolumeSource;
import io.fabric8.kubernetes.api.model.CephFSVolumeSource;
import io.fabric8.kubernetes.api.model.CinderVolumeSource;
import io.fabric8.kubernetes.api.model.ConfigMapEnvSource;
import io.fabric8.kubernetes.api.model.ConfigMapKeySelector;
import io.fabric8.kubernetes.api.model.ConfigMapProjection;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
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
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds the names of Secrets and ConfigMaps in a pod's spec, in one walk. */
public final class PodSpecNames {

    private final BiConsumer<Usage, @Nullable String> secrets;
    private final BiConsumer<Usage, @Nullable String> configMaps;

    private PodSpecNames(BiConsumer<Usage, @Nullable String> secrets, BiConsumer<Usage, @Nullable String> configMaps) {
        this.secrets = secrets;
        this.configMaps = configMaps;
    }

    /**
     * Passes each place in {@code spec} that can name a Secret to {@code secrets}, and each that can name a ConfigMap to
     * {@code configMaps}: its usage, and the name, which may be null or empty.
     */
    static void forEach(
            PodSpec spec, BiConsumer<Usage, @Nullable String> secrets, BiConsumer<Usage, @Nullable String> configMaps) {
        PodSpecNames names = new PodSpecNames(secrets, configMaps);
        for (LocalObjectReference pullSecret : present(spec.getImagePullSecrets())) {
            secrets.accept(Usage.PULL, pullSecret.getName());
        }
        for (Container container : present(spec.getInitContainers())) {
            names.environment(container.getEnvFrom(), container.getEnv());
        }
        for (Container container : present(spec.getContainers())) {
            names.environment(container.getEnvFrom(), container.getEnv());
        }
        for (EphemeralContainer container : present(spec.getEphemeralContainers())) {
            names.environment(container.getEnvFrom(), container.getEnv());
        }
        for (Volume volume : present(spec.getVolumes())) {
            names.volume(volume);
        }
    }

    private void environment(@Nullable List<EnvFromSource> envFrom, @Nullable List<EnvVar> env) {
        for (EnvFromSource source : present(envFrom)) {
            secret(Usage.ENV, source.getSecretRef(), SecretEnvSource::getName);
            configMap(Usage.ENV, source.getConfigMapRef(), ConfigMapEnvSource::getName);
        }
        for (EnvVar variable : present(env)) {
            @Nullable EnvVarSource source = variable.getValueFrom();
            if (source != null) {
                secret(Usage.ENV, source.getSecretKeyRef(), SecretKeySelector::getName);
                configMap(Usage.ENV, source.getConfigMapKeyRef(), ConfigMapKeySelector::getName);
            }
        }
    }

    private void volume(Volume volume) {
        secret(Usage.VOLUME, volume.getSecret(), SecretVolumeSource::getSecretName);
        configMap(Usage.VOLUME, volume.getConfigMap(), ConfigMapVolumeSource::getName);
        secret(Usage.VOLUME, volume.getAzureFile(), AzureFileVolumeSource::getSecretName);
        driverSecret(volume.getCephfs(), CephFSVolumeSource::getSecretRef);
        driverSecret(volume.getCinder(), CinderVolumeSource::getSecretRef);
        driverSecret(volume.getCsi(), CSIVolumeSource::getNodePublishSecretRef);
        driverSecret(volume.getFlexVolume(), FlexVolumeSource::getSecretRef);
        driverSecret(volume.getIscsi(), ISCSIVolumeSource::getSecretRef);
        driverSecret(volume.getRbd(), RBDVolumeSource::getSecretRef);
        driverSecret(volume.getScaleIO(), ScaleIOVolumeSource::getSecretRef);
        driverSecret(volume.getStorageos(), StorageOSVolumeSource::getSecretRef);
        if (volume.getProjected() != null) {
            for (VolumeProjection source : present(volume.getProjected().getSources())) {
                secret(Usage.VOLUME, source.getSecret(), SecretProjection::getName);
                configMap(Usage.VOLUME, source.getConfigMap(), ConfigMapProjection::getName);
            }
        }
    }

    /** A Secret that the driver of a volume uses. */
    private <S> void driverSecret(@Nullable S source, Function<S, @Nullable LocalObjectReference> reference) {
        if (source != null) {
            secret(Usage.VOLUME, reference.apply(source), LocalObjectReference::getName);
        }
    }

    private <S> void secret(Usage usage, @Nullable S source, Function<S, @Nullable String> name) {
        if (source != null) {
            secrets.accept(usage, name.apply(source));
        }
    }

    private <S> void configMap(Usage usage, @Nullable S source, Function<S, @Nullable String> name) {
        if (source != null) {
            configMaps.accept(usage, name.apply(source));
        }
    }

    /** Returns the elements of a list that are not null; none if the list is null. */
    public static <T> Iterable<T> present(@Nullable List<T> list) {
        if (list == null) {
            return List.of();
        }
        for (@Nullable T element : list) {
            if (element == null) {
                return Iterables.filter(list, Objects::nonNull);
            }
        }
        // unfiltered, because registrations are frequent: filters and their iterators would be a sixth of their garbage
        return list;
    }
}
