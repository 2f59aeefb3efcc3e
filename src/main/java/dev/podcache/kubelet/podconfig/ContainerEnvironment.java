package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.manager.Manager;
import dev.podcache.pod.PodOrigin;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Map;

/**
 * Resolves the environment variables of containers. Thread-safe.
 *
 * <p>The variables come from {@code envFrom} in order, then from {@code env} in order; a later definition replaces an
 * earlier one. Variables of Services are added last, and replace none. If a reference is {@code optional}, its Secret
 * or ConfigMap, or the key in it, may be missing. An object counts as missing only if the API server reported that it
 * does not exist, not if the request failed. All variable names that the API server accepts are accepted.
 *
 * <p>Follows {@code makeEnvironmentVariables} of the kubelet's {@code kubelet_pods.go} in its newest form. Unlike
 * upstream, whose order is partly random, it keeps the order above.
 */
public final class ContainerEnvironment {

    private final PodObjects.PodManagers managers;
    private final ServiceLister services;
    private final LocalVolumes volumes;

    /**
     * Creates a resolver on these sources, which it does not close.
     *
     * @param secrets the Secrets of all pods that are registered with it
     * @param configMaps the ConfigMaps of all pods that are registered with it
     * @param services the Services for variables such as {@code DB_SERVICE_HOST}
     * @param volumes where the files of {@code fileKeyRef} are
     */
    public ContainerEnvironment(
            Manager<Secret> secrets, Manager<ConfigMap> configMaps, ServiceLister services, LocalVolumes volumes) {
        this.volumes = volumes;
        this.managers = new PodObjects.PodManagers(secrets, configMaps);
        this.services = services;
    }

    /**
     * Returns the environment of {@code container}. Calls {@link Manager#getObject} once for each object that the
     * container refers to, and blocks as long as these calls do, and while it reads the files of {@code fileKeyRef}.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param container a container of the pod; an ephemeral container must be converted to a {@code Container}
     * @param placement the node's facts about the pod
     * @throws PodConfigException if the container cannot be created now
     */
    public Environment of(Pod pod, Container container, PodPlacement placement) {
        ConfigTarget target = ConfigTarget.container(container.getName());
        Boolean enableServiceLinks = pod.getSpec().getEnableServiceLinks();
        if (enableServiceLinks == null) {
            throw target.failure("nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
        }
        // a static pod must start without an API server
        if (!services.hasSynced() && !PodOrigin.isStatic(pod)) {
            throw target.failure("services have not yet been read at least once, cannot construct envvars");
        }
        String namespace = pod.getMetadata().getNamespace();
        Map<String, String> serviceVariables = ServiceVariables.of(services, namespace, enableServiceLinks);
        return new EnvironmentAssembly(
                        ConfigSources.of(managers, pod, placement, target),
                        new FileVariables(volumes, pod, target),
                        serviceVariables)
                .assemble(container);
    }
}
