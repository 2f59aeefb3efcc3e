package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodResources;
import dev.podcache.pod.QosClass;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.HostIP;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Derives the status of a pod from a runtime's observation. Pure functions. */
public final class PodStatuses {

    // Follows generateAPIPodStatus of pkg/kubelet/kubelet_pods.go of Kubernetes.

    private PodStatuses() {}

    /**
     * Returns the status of {@code pod}: phase, conditions, QoS class, addresses and a status for each container.
     * {@link PodStatusManager#setPodStatus} adds the start time and the transition times. If the API server shows the
     * pod as Succeeded or Failed, the status keeps that phase, its reason and its message.
     *
     * <p>An init container that was not observed although a regular container was started has completed: its runtime has
     * forgotten it. Any other container that was not observed is waiting. The reason is {@code PodInitializing} if the pod has init
     * containers, else {@code ContainerCreating}. An observed container that waits without a reason gets the same
     * reason; an existing reason is kept. Ephemeral containers have statuses, and count for nothing else.
     *
     * @param pod the pod as the API server returned it, with its spec; not modified. Its status provides the conditions
     *     that others write, such as those of readiness gates
     * @return a new status, which the caller may modify
     */
    public static PodStatus of(Pod pod, PodObservation observed) {
        PodSpec spec = pod.getSpec();
        PodStatus before = PodParts.status(pod);
        String waitingReason = present(spec.getInitContainers()).isEmpty() ? "ContainerCreating" : "PodInitializing";
        PodStatus status = new PodStatus();
        status.setInitContainerStatuses(
                complete(present(spec.getInitContainers()), withForgotten(spec, observed), waitingReason));
        status.setContainerStatuses(complete(present(spec.getContainers()), observed.containers(), waitingReason));
        status.setEphemeralContainerStatuses(
                complete(EphemeralContainers.of(pod), observed.ephemeralContainers(), waitingReason));
        // nothing finds out whether they have started
        status.getEphemeralContainerStatuses().forEach(ephemeral -> ephemeral.setStarted(null));
        setAddresses(status, observed);
        status.setQosClass(QosClass.of(pod));
        if (PodEnd.isTerminal(before.getPhase())) {
            status.setPhase(before.getPhase());
            status.setReason(before.getReason());
            status.setMessage(before.getMessage());
        } else {
            status.setPhase(PodPhase.of(spec, PodParts.containers(status), observed.over()));
        }
        status.setConditions(conditions(spec, before, status, observed));
        return status;
    }

    private static List<PodCondition> conditions(
            PodSpec spec, PodStatus before, PodStatus status, PodObservation observed) {
        List<ContainerStatus> statuses = PodParts.containers(status);
        List<PodCondition> conditions = PodConditions.copiesOfOthers(before);
        PodCondition containersReady = PodConditions.containersReady(spec, statuses, status.getPhase());
        PodCondition ready = PodConditions.ready(spec, containersReady, conditions);
        conditions.add(PodConditions.readyToStartContainers(spec, observed));
        conditions.add(PodConditions.initialized(spec, statuses, status.getPhase()));
        conditions.add(ready);
        conditions.add(containersReady);
        conditions.add(PodConditions.scheduled());
        return conditions;
    }

    /** Sets the conditions that depend on which containers are ready, as they are for those in {@code status}. */
    static void setReadiness(PodSpec spec, PodStatus status) {
        List<PodCondition> conditions = new ArrayList<>(present(status.getConditions()));
        PodCondition containersReady =
                PodConditions.containersReady(spec, PodParts.containers(status), status.getPhase());
        PodConditions.put(conditions, PodConditions.ready(spec, containersReady, conditions));
        PodConditions.put(conditions, containersReady);
        status.setConditions(conditions);
    }

    /** After convertToAPIContainerStatuses of kubelet_pods.go. */
    private static List<ContainerStatus> withForgotten(PodSpec spec, PodObservation observed) {
        boolean started = observed.containers().stream().anyMatch(status -> !PodParts.isWaiting(status));
        if (!started) {
            return observed.initContainers();
        }
        List<ContainerStatus> all = new ArrayList<>(observed.initContainers());
        for (Container container : present(spec.getInitContainers())) {
            if (!PodResources.isSidecar(container) && PodParts.named(all, container.getName()) == null) {
                all.add(new ContainerStatusBuilder(notStarted(container))
                        .withReady(true)
                        .withNewState()
                        .withNewTerminated()
                        .withExitCode(0)
                        .withReason("Completed")
                        .withMessage(
                                "Unable to get init container status from container runtime and pod has been initialized,"
                                        + " treat it as exited normally")
                        .endTerminated()
                        .endState()
                        .build());
            }
        }
        return all;
    }

    private static List<ContainerStatus> complete(
            List<Container> containers, List<ContainerStatus> observed, String waitingReason) {
        List<ContainerStatus> complete = new ArrayList<>();
        for (Container container : containers) {
            @Nullable ContainerStatus status = PodParts.named(observed, container.getName());
            ContainerStatus copy = status == null ? notStarted(container) : new ContainerStatusBuilder(status).build();
            if (PodParts.isWaiting(copy)) {
                setMissingReason(copy, waitingReason);
            }
            complete.add(copy);
        }
        return complete;
    }

    private static ContainerStatus notStarted(Container container) {
        return new ContainerStatusBuilder()
                .withName(container.getName())
                .withImage(container.getImage())
                .withReady(false)
                .withStarted(false)
                .withRestartCount(0)
                .build();
    }

    private static void setMissingReason(ContainerStatus status, String reason) {
        ContainerState state = new ContainerStateBuilder(PodParts.state(status))
                .editOrNewWaiting()
                .endWaiting()
                .build();
        ContainerStateWaiting waiting = state.getWaiting();
        if (waiting.getReason() == null || waiting.getReason().isEmpty()) {
            waiting.setReason(reason);
        }
        status.setState(state);
    }

    private static void setAddresses(PodStatus status, PodObservation observed) {
        if (!observed.hostIps().isEmpty()) {
            status.setHostIP(observed.hostIps().get(0));
            status.setHostIPs(
                    observed.hostIps().stream().map(PodStatuses::hostIp).toList());
        }
        if (!observed.podIps().isEmpty()) {
            status.setPodIP(observed.podIps().get(0));
            status.setPodIPs(observed.podIps().stream().map(PodStatuses::podIp).toList());
        }
    }

    private static HostIP hostIp(String address) {
        HostIP made = new HostIP();
        made.setIp(address);
        return made;
    }

    static PodIP podIp(String address) {
        PodIP made = new PodIP();
        made.setIp(address);
        return made;
    }
}
