package dev.podcache.pod;

import static dev.podcache.pod.Containers.present;

import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Computes the QoS class of a pod: Guaranteed, Burstable or BestEffort. Pure. */
public final class QosClass {

    // Follows ComputePodQOS of pkg/apis/core/v1/helper/qos of Kubernetes, without pod-level resources.

    private static final List<String> COUNTED = List.of("cpu", "memory");

    private final Map<String, BigDecimal> requests = new HashMap<>();
    private final Map<String, BigDecimal> limits = new HashMap<>();
    private boolean allLimited = true;

    private QosClass() {}

    /** Returns the class that the API server computes for a pod with this spec. */
    public static String of(PodSpec spec) {
        QosClass sums = new QosClass();
        present(spec.getInitContainers()).forEach(sums::add);
        present(spec.getContainers()).forEach(sums::add);
        if (sums.requests.isEmpty() && sums.limits.isEmpty()) {
            return "BestEffort";
        }
        return sums.allLimited && sums.requestsEqualLimits() ? "Guaranteed" : "Burstable";
    }

    private void add(Container container) {
        @Nullable ResourceRequirements resources = container.getResources();
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
