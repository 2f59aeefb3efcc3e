package dev.podcache.pod;

import static dev.podcache.pod.PodSpecNames.present;

import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The requests and limits of pods. What the containers of a pod need of a resource is the sum of its regular containers
 * and sidecars, or the largest init container with the sidecars before it, if that is more. What is set for the whole pod
 * counts instead. Follows {@code PodRequests} and {@code PodLimits} of {@code k8s.io/component-helpers/resource}. Pure; a
 * quantity that is not valid throws {@link IllegalArgumentException}.
 */
public final class PodResources {

    private PodResources() {}

    /** Returns what a pod requests of a resource, with its overhead; 0 if it requests none. */
    public static BigDecimal request(Pod pod, String resource) {
        return of(pod, resource, false).orElse(BigDecimal.ZERO);
    }

    /**
     * Returns what the containers of a pod request of a resource; empty if none of them says so. A request of the pod
     * itself does not count.
     */
    public static Optional<BigDecimal> requestOfContainers(Pod pod, String resource) {
        return ofContainers(pod, resource, false);
    }

    /** Returns what is requested of a resource for the whole pod; empty if only its containers request it. */
    public static Optional<Quantity> podLevelRequest(Pod pod, String resource) {
        return podLevel(pod, resource, false);
    }

    /** Returns the limit of a pod; empty if neither it nor one of its containers has one. */
    public static Optional<BigDecimal> limit(Pod pod, String resource) {
        return of(pod, resource, true);
    }

    /** Returns what a container requests of a resource; empty if nothing is set. */
    public static Optional<Quantity> request(Container container, String resource) {
        return quantity(container.getResources(), resource, false);
    }

    /** Returns the limit of a container; empty if it has none. */
    public static Optional<Quantity> limit(Container container, String resource) {
        return quantity(container.getResources(), resource, true);
    }

    /** Returns whether an init container is a sidecar, which runs as long as the pod. */
    public static boolean isSidecar(Container initContainer) {
        return "Always".equals(initContainer.getRestartPolicy());
    }

    private static Optional<BigDecimal> of(Pod pod, String resource, boolean limits) {
        return podLevel(pod, resource, limits)
                .map(Amounts::of)
                .or(() -> ofContainers(pod, resource, limits))
                .map(amount -> amount.signum() == 0 ? amount : amount.add(overhead(pod, resource)));
    }

    private static Optional<Quantity> podLevel(Pod pod, String resource, boolean limit) {
        boolean supported = resource.equals("cpu") || resource.equals("memory") || resource.startsWith("hugepages-");
        return supported ? quantity(pod.getSpec().getResources(), resource, limit) : Optional.empty();
    }

    private static Optional<BigDecimal> ofContainers(Pod pod, String resource, boolean limits) {
        BigDecimal running = BigDecimal.ZERO;
        BigDecimal largestStart = BigDecimal.ZERO;
        boolean any = false;
        for (Container container : present(pod.getSpec().getInitContainers())) {
            Optional<Quantity> quantity = quantity(container.getResources(), resource, limits);
            any |= quantity.isPresent();
            BigDecimal amount = quantity.map(Amounts::of).orElse(BigDecimal.ZERO);
            if (isSidecar(container)) {
                running = running.add(amount);
            } else {
                largestStart = largestStart.max(running.add(amount));
            }
        }
        for (Container container : present(pod.getSpec().getContainers())) {
            Optional<Quantity> quantity = quantity(container.getResources(), resource, limits);
            any |= quantity.isPresent();
            running = running.add(quantity.map(Amounts::of).orElse(BigDecimal.ZERO));
        }
        return any ? Optional.of(running.max(largestStart)) : Optional.empty();
    }

    private static BigDecimal overhead(Pod pod, String resource) {
        @Nullable Map<String, Quantity> overhead = pod.getSpec().getOverhead();
        @Nullable Quantity quantity = overhead == null ? null : overhead.get(resource);
        return quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
    }

    private static Optional<Quantity> quantity(
            @Nullable ResourceRequirements resources, String resource, boolean limit) {
        if (resources == null) {
            return Optional.empty();
        }
        @Nullable Map<String, Quantity> quantities = limit ? resources.getLimits() : resources.getRequests();
        return quantities == null ? Optional.empty() : Optional.ofNullable(quantities.get(resource));
    }
}
