package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;

/**
 * Makes the environments of containers. Thread-safe.
 *
 * <p>First {@code envFrom} in order, then {@code env} in order, the later one winning, then what variables of Services
 * are left. A Secret or ConfigMap that is {@code optional} may be missing, and so may its key; but only that the server
 * knows of none is forgiven, not that it could not be asked. Any name is taken that the API server let pass.
 *
 * <p>Follows {@code makeEnvironmentVariables} of the kubelet's {@code kubelet_pods.go} in its newest form, except that
 * the order is the one above where upstream's is random, and that {@code fileKeyRef} is refused.
 */
public final class ContainerEnvironment {

    private static final String STATIC_SOURCE = "kubernetes.io/config.source";

    private final PodObjects.Sources sources;
    private final ServiceLister services;

    /**
     * Environments from these sources, none of which is closed here.
     *
     * @param secrets with which the pods are registered before
     * @param configMaps the same
     * @param services for the variables of Services
     */
    public ContainerEnvironment(Manager<Secret> secrets, Manager<ConfigMap> configMaps, ServiceLister services) {
        this.sources = new PodObjects.Sources(secrets, configMaps);
        this.services = services;
    }

    /**
     * The environment of {@code container}. Blocks as long as the managers' {@link Manager#getObject} does, once for
     * each object that the container refers to.
     *
     * @param pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param container one of its containers; of an ephemeral one its equal as a {@code Container}
     * @param placement where the pod runs
     * @throws PodConfigException why the container cannot be created now
     */
    public Environment of(Pod pod, Container container, PodPlacement placement) {
        Subject subject = Subject.container(container.getName());
        Boolean links = pod.getSpec().getEnableServiceLinks();
        if (links == null) {
            throw subject.failure("nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
        }
        if (!services.hasSynced() && !isStatic(pod)) {
            throw subject.failure("services have not yet been read at least once, cannot construct envvars");
        }
        String namespace = pod.getMetadata().getNamespace();
        ImmutableMap<String, String> serviceVariables = ServiceVariables.of(services, namespace, links);
        return new EnvironmentAssembly(Ingredients.of(sources, pod, placement, subject), serviceVariables)
                .assemble(container);
    }

    /** Whether the pod comes from a file or a URL: it must be able to start before there is an API server. */
    private static boolean isStatic(Pod pod) {
        String source = AbsentObject.orEmpty(pod.getMetadata().getAnnotations()).get(STATIC_SOURCE);
        return source != null && !source.equals("api");
    }
}
