package dev.podcache.kubelet.eviction;

import dev.podcache.object.Amounts;
import dev.podcache.pod.CriticalPods;
import dev.podcache.pod.PodResources;
import dev.podcache.pod.QosClass;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Objects;

/**
 * Computes {@code oom_score_adj} of containers: which ones Linux kills first when memory runs out. Pure. Follows {@code
 * GetContainerOOMScoreAdjust} of the kubelet's {@code qos/policy.go}, with its gate KubeletOOMScoreAdjTieBreak off.
 */
public final class OomScoreAdjust {

    private static final int GUARANTEED = -997;
    private static final int BEST_EFFORT = 1000;
    private static final int LEAST_BURSTABLE = 1000 + GUARANTEED;
    private static final BigDecimal SCALE = BigDecimal.valueOf(1000);

    private OomScoreAdjust() {}

    /**
     * Returns the value of a container, from -997 for the last one to be killed to 1000 for the first one.
     *
     * @param capacityBytes the memory of the machine
     */
    public static int of(Pod pod, Container container, long capacityBytes) {
        if (CriticalPods.isNodeCritical(pod)) {
            return GUARANTEED;
        }
        return switch (QosClass.of(pod)) {
            case "Guaranteed" -> GUARANTEED;
            case "BestEffort" -> BEST_EFFORT;
            default -> burstable(pod, container, capacityBytes);
        };
    }

    private static int burstable(Pod pod, Container container, long capacityBytes) {
        BigDecimal rest = restPerContainer(pod);
        int own = burstable(request(container).add(rest), capacityBytes);
        List<Container> init = Objects.requireNonNullElse(pod.getSpec().getInitContainers(), List.of());
        boolean sidecar = PodResources.isSidecar(container) && init.contains(container);
        if (!sidecar) {
            return own;
        }
        // a sidecar must not be killed before the containers that it serves
        BigDecimal least = pod.getSpec().getContainers().stream()
                .map(OomScoreAdjust::request)
                .reduce(BigDecimal::min)
                .orElse(BigDecimal.ZERO);
        return Math.min(own, burstable(least.add(rest), capacityBytes));
    }

    /** A pod may request more memory than its containers do. Returns the rest, divided by the number of containers. */
    private static BigDecimal restPerContainer(Pod pod) {
        int containers = pod.getSpec().getContainers().size()
                + Objects.requireNonNullElse(pod.getSpec().getInitContainers(), List.of())
                        .size();
        return PodResources.podLevelRequest(pod, "memory")
                .map(request -> Amounts.of(request)
                        .subtract(
                                PodResources.requestOfContainers(pod, "memory").orElse(BigDecimal.ZERO)))
                // no API server validates a static pod, whose containers may request more
                .filter(rest -> rest.signum() > 0)
                .map(rest -> rest.divide(BigDecimal.valueOf(containers), 0, RoundingMode.DOWN))
                .orElse(BigDecimal.ZERO);
    }

    private static int burstable(BigDecimal request, long capacityBytes) {
        if (capacityBytes <= 0) {
            return BEST_EFFORT - 1;
        }
        int share = request.multiply(SCALE)
                .divide(BigDecimal.valueOf(capacityBytes), 0, RoundingMode.DOWN)
                .min(SCALE)
                .intValue();
        int adjust = BEST_EFFORT - share;
        if (adjust < LEAST_BURSTABLE) {
            return LEAST_BURSTABLE;
        }
        return adjust == BEST_EFFORT ? BEST_EFFORT - 1 : adjust;
    }

    private static BigDecimal request(Container container) {
        return PodResources.request(container, "memory").map(Amounts::of).orElse(BigDecimal.ZERO);
    }
}
