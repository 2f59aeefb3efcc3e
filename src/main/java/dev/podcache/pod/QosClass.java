package dev.podcache.pod;

import static dev.podcache.pod.PodSpecNames.present;

import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Computes the QoS class of a pod: Guaranteed, Burstable or BestEffort. Pure. */
public final class QosClass {

    // Follows GetPodQOS and ComputePodQOS of pkg/apis/core/v1/helper/qos of Kubernetes, with pod-level resources.

    private static final List<String> COUNTED = List.of("cpu", "memory");

    private final Map<String, BigDecimal> requests = new HashMap<>();
    private final Map<String, BigDecimal> limits = new HashMap<>();
    private boolean allLimited = true;

    private QosClass() {}

    /** Returns the class of a pod: that of its status, which the API server sets, or else the one that its spec has. */
    public static String of(Pod pod) {
        @Nullable PodStatus status = pod.getStatus();
        @Nullable String qosClass = status == null ? null : status.getQosClass();
        return qosClass == null || qosClass.isEmpty() ? of(pod.getSpec()) : qosClass;
    }

    /** Returns the class that the API server computes for a pod with this spec. */
    static String of(PodSpec spec) {
        QosClass sums = new QosClass();
        @Nullable ResourceRequirements podLevel = spec.getResources();
        if (podLevel == null) {
            present(spec.getInitContainers()).forEach(container -> sums.add(container.getResources()));
            present(spec.getContainers()).forEach(container -> sums.add(container.getResources()));
        } else {
            sums.add(podLevel);
        }
        if (sums.requests.isEmpty() && sums.limits.isEmpty()) {
            return "BestEffort";
        }
        return sums.allLimited && sums.requestsEqualLimits() ? "Guaranteed" : "Burstable";
    }

    private void add(@Nullable ResourceRequirements resources) {
        int limited = 0;
        for (String name : COUNTED) {
            if (resources != null) {
                addPositive(requests, name, resources.getRequests());
                limited += addPositive(limits, name, resources.getLimits()) ? 1 : 0;
            }
        }
        allLimited &= limited == COUNTED.size();
    }

    /** Adds the quantity of {@code name} if it is positive, and returns whether it was. */
    private static boolean addPositive(
            Map<String, BigDecimal> sums, String name, @Nullable Map<String, Quantity> quantities) {
        @Nullable Quantity quantity = quantities == null ? null : quantities.get(name);
        BigDecimal amount = quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
        if (amount.signum() <= 0) {
            return false;
        }
        sums.merge(name, amount, BigDecimal::add);
        return true;
    }

    private boolean requestsEqualLimits() {
        return requests.keySet().equals(limits.keySet())
                && requests.keySet().stream()
                        .allMatch(name -> amount(requests, name).compareTo(amount(limits, name)) == 0);
    }

    private static BigDecimal amount(Map<String, BigDecimal> sums, String name) {
        return sums.getOrDefault(name, BigDecimal.ZERO);
    }
}
