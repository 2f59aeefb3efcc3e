package dev.podcache.pod;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The ephemeral containers of a pod, which people add to debug it. Pure functions. */
public final class EphemeralContainers {

    private EphemeralContainers() {}

    /**
     * Returns the ephemeral containers as containers, in the order of the spec. They have nothing that the API does not allow
     * them: no ports, probes, hooks, resources, restart policy.
     */
    public static List<Container> of(Pod pod) {
        @Nullable List<EphemeralContainer> all = pod.getSpec().getEphemeralContainers();
        if (all == null || all.isEmpty()) {
            return List.of();
        }
        ImmutableList.Builder<Container> containers = ImmutableList.builder();
        for (EphemeralContainer each : PodSpecNames.present(all)) {
            containers.add(container(each));
        }
        return containers.build();
    }

    private static Container container(EphemeralContainer ephemeral) {
        return new ContainerBuilder()
                .withName(ephemeral.getName())
                .withImage(ephemeral.getImage())
                .withImagePullPolicy(ephemeral.getImagePullPolicy())
                .withCommand(ephemeral.getCommand())
                .withArgs(ephemeral.getArgs())
                .withWorkingDir(ephemeral.getWorkingDir())
                .withEnv(ephemeral.getEnv())
                .withEnvFrom(ephemeral.getEnvFrom())
                .withVolumeMounts(ephemeral.getVolumeMounts())
                .withVolumeDevices(ephemeral.getVolumeDevices())
                .withSecurityContext(ephemeral.getSecurityContext())
                .withStdin(ephemeral.getStdin())
                .withStdinOnce(ephemeral.getStdinOnce())
                .withTty(ephemeral.getTty())
                .withTerminationMessagePath(ephemeral.getTerminationMessagePath())
                .withTerminationMessagePolicy(ephemeral.getTerminationMessagePolicy())
                .build();
    }

    /** Returns whether the pod has an ephemeral container of this name. */
    public static boolean isOne(Pod pod, String name) {
        return named(pod, name).isPresent();
    }

    /**
     * Returns the name of the container whose processes an ephemeral container wants to see; empty if it names none, or if the pod
     * has no such ephemeral container.
     */
    public static Optional<String> target(Pod pod, String name) {
        return named(pod, name).map(EphemeralContainer::getTargetContainerName).filter(target -> !target.isEmpty());
    }

    private static Optional<EphemeralContainer> named(Pod pod, String name) {
        for (EphemeralContainer each : PodSpecNames.present(pod.getSpec().getEphemeralContainers())) {
            if (name.equals(each.getName())) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }
}
