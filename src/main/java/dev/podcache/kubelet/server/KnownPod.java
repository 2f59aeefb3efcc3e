package dev.podcache.kubelet.server;

import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A pod of this node, as a request names it. Immutable. */
record KnownPod(Pod pod) {

    /**
     * Returns the pod with these names.
     *
     * @param uid the UID; empty for any
     * @throws RefusedException with 404 if there is none, or it has no such container
     */
    static KnownPod find(Collection<Pod> pods, String namespace, String name, String uid, String container) {
        KnownPod found = find(pods, namespace, name, uid);
        if (found.containers().noneMatch(container::equals)) {
            throw new RefusedException(404, "container \"" + container + "\" not found in pod \"" + name + "\"");
        }
        return found;
    }

    /** Returns the pod with these names, as the other method does. */
    static KnownPod find(Collection<Pod> pods, String namespace, String name, String uid) {
        return pods.stream()
                .filter(pod -> name.equals(pod.getMetadata().getName())
                        && namespace.equals(pod.getMetadata().getNamespace())
                        && (uid.isEmpty() || uid.equals(pod.getMetadata().getUid())))
                .findFirst()
                .map(KnownPod::new)
                .orElseThrow(() -> new RefusedException(404, "pod \"" + name + "\" does not exist"));
    }

    PodKey key() {
        return PodKey.of(
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName(),
                pod.getMetadata().getUid());
    }

    String name() {
        return pod.getMetadata().getName();
    }

    /** Returns the names of all containers. */
    private Stream<String> containers() {
        return Stream.concat(
                Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
                        .map(Container::getName),
                pod.getSpec().getEphemeralContainers().stream().map(EphemeralContainer::getName));
    }

    /** Returns whether the pod's spec gives a container a terminal. */
    boolean hasTerminal(String container) {
        return Stream.of(pod.getSpec().getInitContainers(), pod.getSpec().getContainers())
                        .flatMap(List::stream)
                        .anyMatch(each -> container.equals(each.getName()) && Boolean.TRUE.equals(each.getTty()))
                || pod.getSpec().getEphemeralContainers().stream()
                        .anyMatch(each -> container.equals(each.getName()) && Boolean.TRUE.equals(each.getTty()));
    }

    /** Returns the last reported status of a container; empty if there is none. */
    Optional<ContainerStatus> status(String container) {
        PodStatus status = pod.getStatus();
        if (status == null) {
            return Optional.empty();
        }
        return Stream.of(
                        status.getContainerStatuses(),
                        status.getInitContainerStatuses(),
                        status.getEphemeralContainerStatuses())
                .flatMap(List::stream)
                .filter(each -> container.equals(each.getName()))
                .findFirst();
    }
}
