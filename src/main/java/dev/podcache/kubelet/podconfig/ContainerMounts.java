package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the volume mounts of a container. {@code recursiveReadOnly} and {@code mountPropagation} are ignored, because
 * they are requests to a container runtime.
 *
 * <p>Follows {@code makeMounts} of the kubelet's {@code kubelet_pods.go} and {@code ExpandContainerVolumeMounts} of
 * {@code pkg/kubelet/container/helpers.go}.
 */
record ContainerMounts(Pod pod, Map<String, String> environment, ConfigTarget target) {

    private static final Splitter SLASHES = Splitter.on('/');

    /**
     * Returns the mounts in the order of the container's spec. Volumes made of Secrets, ConfigMaps, tokens and the pod
     * itself are always read-only.
     *
     * @throws PodConfigException if the pod has no such volume, or a subPath is not allowed
     */
    List<VolumeMountPoint> of(Container container) {
        return Nullables.orEmpty(container.getVolumeMounts()).stream()
                .map(mount -> of(mount, container))
                .toList();
    }

    private VolumeMountPoint of(VolumeMount mount, Container container) {
        String name = Nullables.orEmpty(mount.getName());
        Volume volume = Nullables.orEmpty(pod.getSpec().getVolumes()).stream()
                .filter(each -> name.equals(each.getName()))
                .findFirst()
                .orElseThrow(() -> target.failure(
                        "cannot find volume \"" + name + "\" to mount into container \"" + container.getName() + "\""));
        String path = Nullables.orEmpty(mount.getMountPath());
        return new VolumeMountPoint(
                name,
                path.startsWith("/") ? path : "/" + path,
                subPath(mount),
                Boolean.TRUE.equals(mount.getReadOnly()) || VolumePayloads.isMadeHere(volume),
                Nullables.orEmpty(mount.getSubPathExpr()));
    }

    private String subPath(VolumeMount mount) {
        String expression = Nullables.orEmpty(mount.getSubPathExpr());
        String subPath = expression.isEmpty() ? Nullables.orEmpty(mount.getSubPath()) : expanded(expression);
        // the expanded text may contain a value of a Secret
        String shown = expression.isEmpty() ? subPath : expression;
        if (subPath.startsWith("/")) {
            throw target.failure("error SubPath `" + shown + "` must not be an absolute path");
        }
        if (SLASHES.splitToList(subPath).contains("..")) {
            throw target.failure("unable to provision SubPath `" + shown + "`: must not contain '..'");
        }
        return subPath;
    }

    private String expanded(String expression) {
        Set<String> missing = new TreeSet<>();
        String subPath = VariableExpansion.expand(expression, variable -> {
            @Nullable String value = environment.get(variable);
            if (value == null || value.isEmpty()) {
                missing.add(variable);
            }
            return value;
        });
        if (!missing.isEmpty()) {
            throw target.failure("missing value for " + String.join(", ", missing));
        }
        return subPath;
    }
}
