package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the configuration that a container is started with. Thread-safe.
 *
 * <p>References {@code $(NAME)} in the command, the arguments and {@code subPathExpr} are expanded with the container's
 * environment. In commands and arguments, a reference to an unknown variable stays unchanged.
 *
 * <p>Follows {@code GenerateRunContainerOptions} of the kubelet's {@code kubelet_pods.go} and {@code
 * ExpandContainerCommandAndArgs} of {@code pkg/kubelet/container/helpers.go}.
 */
public final class ContainerConfiguration {

    /** The domain that kubeadm gives a cluster. */
    public static final String DEFAULT_CLUSTER_DOMAIN = "cluster.local";

    private final ContainerEnvironment environments;
    private final String clusterDomain;

    /**
     * Creates a resolver on these sources, which it does not close.
     *
     * @param secrets the Secrets of all pods that are registered with it
     * @param configMaps the ConfigMaps of all pods that are registered with it
     * @param services the Services for variables such as {@code DB_SERVICE_HOST}
     * @param clusterDomain the end of the full names of pods; "" for no full names
     * @param volumes where the files of {@code fileKeyRef} are
     */
    public ContainerConfiguration(
            Manager<Secret> secrets,
            Manager<ConfigMap> configMaps,
            ServiceLister services,
            String clusterDomain,
            LocalVolumes volumes) {
        this.clusterDomain = clusterDomain;
        this.environments = new ContainerEnvironment(secrets, configMaps, services, volumes);
    }

    /**
     * Returns the configuration of {@code container}. Blocks as {@link ContainerEnvironment#of} does.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param container a container of the pod; an ephemeral container must be converted to a {@code Container}
     * @param placement the node's facts about the pod
     * @param pullSecrets from {@link ImagePullSecrets}
     * @param restartCount how often the container was started before
     * @throws PodConfigException if the container cannot be created now; the reason of the waiting container is {@code
     *     CreateContainerConfigError}
     */
    public Launch launch(
            Pod pod, Container container, PodPlacement placement, List<Secret> pullSecrets, int restartCount) {
        ConfigTarget target = ConfigTarget.container(container.getName());
        PodHostname name = PodHostname.of(pod, clusterDomain, target);
        Map<String, String> environment =
                environments.of(pod, container, placement).variables();
        return new Launch(
                expanded(container.getCommand(), environment),
                expanded(container.getArgs(), environment),
                Nullables.orEmpty(container.getWorkingDir()),
                environment,
                new ContainerMounts(pod, environment, target).of(container),
                pullSecrets,
                restartCount,
                Launch.hashOf(container.getName(), container.getImage()),
                name.hostname(),
                name.fqdn());
    }

    private static List<String> expanded(@Nullable List<String> texts, Map<String, String> environment) {
        return Nullables.orEmpty(texts).stream()
                .map(text -> VariableExpansion.expand(text, environment::get))
                .toList();
    }
}
