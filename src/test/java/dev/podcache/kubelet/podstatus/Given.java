package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.Arrays;
import java.util.List;

/** Builders of pods, specs and statuses for the tests of this package. */
final class Given {

    static final String LONG_AGO = "2020-01-01T00:00:00Z";

    private Given() {}

    /** Returns a spec with this restart policy and these regular containers. */
    static PodSpec spec(String restartPolicy, String... containers) {
        return new PodSpecBuilder()
                .withRestartPolicy(restartPolicy)
                .withNodeName("worker-1")
                .withContainers(Arrays.stream(containers).map(Given::container).toList())
                .build();
    }

    /** Returns the spec with these init containers; those whose name begins with {@code sidecar} are sidecars. */
    static PodSpec withInit(PodSpec spec, String... init) {
        return new PodSpecBuilder(spec)
                .withInitContainers(Arrays.stream(init).map(Given::container).toList())
                .build();
    }

    static PodSpec withGates(PodSpec spec, String... gates) {
        PodSpecBuilder gated = new PodSpecBuilder(spec);
        for (String gate : gates) {
            gated.addNewReadinessGate(gate);
        }
        return gated.build();
    }

    private static Container container(String name) {
        return new ContainerBuilder()
                .withName(name)
                .withImage("image-of-" + name)
                .withRestartPolicy(name.startsWith("sidecar") ? "Always" : null)
                .build();
    }

    static Pod pod(PodSpec spec) {
        return pod("cart", "uid-cart", spec);
    }

    static Pod pod(String name, String uid, PodSpec spec) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid(uid)
                .endMetadata()
                .withSpec(spec)
                .withNewStatus()
                .endStatus()
                .build();
    }

    static Pod withStatus(Pod pod, PodStatus status) {
        return new PodBuilder(pod).withStatus(status).build();
    }

    static PodStatus status(String phase, ContainerStatus... containers) {
        return new PodStatusBuilder()
                .withPhase(phase)
                .withContainerStatuses(containers)
                .build();
    }

    static PodStatus withInit(PodStatus status, ContainerStatus... init) {
        return new PodStatusBuilder(status).withInitContainerStatuses(init).build();
    }

    static PodStatus withConditions(PodStatus status, PodCondition... conditions) {
        return new PodStatusBuilder(status).withConditions(conditions).build();
    }

    static PodCondition condition(String type, String status) {
        return PodConditions.condition(type, status, null, null);
    }

    static PodCondition since(PodCondition condition, String time) {
        condition.setLastTransitionTime(time);
        return condition;
    }

    static ContainerStatus running(String name) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withContainerID("test://" + name)
                .withReady(true)
                .withNewState()
                .withNewRunning(LONG_AGO)
                .endState()
                .build();
    }

    static ContainerStatus unready(String name) {
        return new ContainerStatusBuilder(running(name)).withReady(false).build();
    }

    static ContainerStatus started(String name) {
        return new ContainerStatusBuilder(running(name)).withStarted(true).build();
    }

    static ContainerStatus waiting(String name) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withReady(false)
                .withNewState()
                .withNewWaiting(null, "Busy")
                .endState()
                .build();
    }

    /** Returns the status of a terminated container; ready if the exit code is 0, as for an init container. */
    static ContainerStatus ended(String name, int exitCode) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withContainerID("test://" + name)
                .withReady(exitCode == 0)
                .withNewState()
                .withNewTerminated()
                .withExitCode(exitCode)
                .endTerminated()
                .endState()
                .build();
    }

    /** Returns the status of a container that waits for its restart. */
    static ContainerStatus endedBefore(String name, int exitCode) {
        return new ContainerStatusBuilder(waiting(name))
                .withNewLastState()
                .withNewTerminated()
                .withExitCode(exitCode)
                .endTerminated()
                .endLastState()
                .build();
    }

    static List<ContainerStatus> statuses(ContainerStatus... statuses) {
        return List.of(statuses);
    }
}
