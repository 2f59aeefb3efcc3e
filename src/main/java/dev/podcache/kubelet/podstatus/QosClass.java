package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How much of its resources a pod is promised: Guaranteed, Burstable or BestEffort. */
final class QosClass {

    // After ComputePodQOS of pkg/apis/core/v1/helper/qos of Kubernetes, without resources of the whole pod.

    private static final ImmutableList<String> COUNTED = ImmutableList.of("cpu", "memory");

    private final Map<String, BigDecimal> requests = new HashMap<>();
    private final Map<String, BigDecimal> limits = new HashMap<>();
    private boolean allLimited = true;

    private QosClass() {}

    static String of(PodSpec spec) {
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
                sum(requests, name, resources.getRequests());
                limited += sum(limits, name, resources.getLimits()) ? 1 : 0;
            }
        }
        allLimited &= limited == COUNTED.size();
    }

    /** Adds what is positive, and says whether it was. */
    private static boolean sum(Map<String, BigDecimal> sums, String name, @Nullable Map<String, Quantity> quantities) {
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
