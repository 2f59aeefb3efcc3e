package dev.podcache.pod;

import static dev.podcache.pod.PodSpecNames.present;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Iterables;
import com.google.common.collect.Streams;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerRestartRule;
import io.fabric8.kubernetes.api.model.ContainerRestartRuleOnExitCodes;
import io.fabric8.kubernetes.api.model.PodSpec;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a container is started again after it has ended: by its own {@code restartPolicyRules}, then by its own {@code
 * restartPolicy}, then by the {@code restartPolicy} of its pod. Pure functions.
 *
 * <p>Follows {@code ContainerShouldRestart} of {@code pkg/api/v1/pod/util.go} of Kubernetes 1.36. A rule with the action {@code
 * RestartAllContainers} counts as none: a node declares whether it supports that, and ours does not, and refuses such a pod.
 */
public final class RestartRules {

    private static final ImmutableSet<String> POLICIES = ImmutableSet.of("Always", "OnFailure", "Never");

    private RestartRules() {}

    /**
     * Returns whether a container that ended with this exit code is started again. For an init container, ask only if it has
     * failed; one that has succeeded is done.
     */
    public static boolean shouldRestart(Container container, PodSpec pod, int exitCode) {
        @Nullable String own = container.getRestartPolicy();
        if (own != null) {
            if ("Restart".equals(action(container, exitCode))) {
                return true;
            }
            if (POLICIES.contains(own)) {
                return restarts(own, exitCode);
            }
        }
        return restarts(pod.getRestartPolicy(), exitCode);
    }

    /** Always is the API server's default. */
    private static boolean restarts(@Nullable String policy, int exitCode) {
        if ("Never".equals(policy)) {
            return false;
        }
        return !"OnFailure".equals(policy) || exitCode != 0;
    }

    /**
     * Returns whether a container is started again after a probe has failed. The rules do not count then, because the container
     * has no exit code yet.
     */
    public static boolean restartsAfterProbe(Container container, PodSpec pod) {
        @Nullable String own = container.getRestartPolicy();
        return !"Never".equals(own == null ? pod.getRestartPolicy() : own);
    }

    /** Returns whether a rule of a container asks for the restart of all containers, as upstream's declared feature infers it. */
    public static boolean restartAllContainers(PodSpec pod) {
        return Streams.stream(Iterables.concat(present(pod.getInitContainers()), present(pod.getContainers())))
                .flatMap(container -> Streams.stream(present(container.getRestartPolicyRules())))
                .anyMatch(rule -> "RestartAllContainers".equals(rule.getAction()));
    }

    /** Returns the action of the first rule that matches; null if none does. */
    private static @Nullable String action(Container container, int exitCode) {
        for (ContainerRestartRule rule : present(container.getRestartPolicyRules())) {
            if (matches(rule.getExitCodes(), exitCode)) {
                return rule.getAction();
            }
        }
        return null;
    }

    private static boolean matches(@Nullable ContainerRestartRuleOnExitCodes codes, int exitCode) {
        if (codes == null) {
            return false;
        }
        boolean isListed = Iterables.contains(present(codes.getValues()), exitCode);
        return ("In".equals(codes.getOperator()) && isListed) || ("NotIn".equals(codes.getOperator()) && !isListed);
    }
}
