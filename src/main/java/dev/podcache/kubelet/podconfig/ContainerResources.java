package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Iterables;
import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceFieldSelector;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Resolves a {@code resourceFieldRef}: a request or limit of a container, divided by the divisor and rounded up. A
 * missing limit of CPU, memory or ephemeral storage resolves to that of the whole pod, without one to the node's allocatable
 * amount; a missing request to 0.
 *
 * <p>Follows {@code ExtractContainerResourceValue} of {@code pkg/api/v1/resource/helpers.go} and {@code
 * kubelet_resources.go} of the kubelet, which takes the limits of a whole pod for variables only. Here volumes agree with
 * the variables.
 */
final class ContainerResources {

    private static final String EPHEMERAL_STORAGE = "ephemeral-storage";
    private static final String HUGE_PAGES = "hugepages-";

    private final Pod pod;
    private final PodPlacement placement;
    private final ConfigTarget target;

    ContainerResources(Pod pod, PodPlacement placement, ConfigTarget target) {
        this.pod = pod;
        this.placement = placement;
        this.target = target;
    }

    /**
     * Returns the value of {@code selector} as a decimal number.
     *
     * @param defaultContainer the container if the selector names none; null if it must name one
     * @throws PodConfigException if there is no such container or resource
     */
    String value(ResourceFieldSelector selector, @Nullable Container defaultContainer) {
        String name = Nullables.orEmpty(selector.getContainerName());
        Container container = name.isEmpty() && defaultContainer != null ? defaultContainer : named(name);
        String path = Nullables.orEmpty(selector.getResource());
        int dot = path.indexOf('.');
        String bound = dot < 0 ? "" : path.substring(0, dot);
        String resource = path.substring(dot + 1);
        if (!isSupported(bound, resource)) {
            throw target.failure("unsupported container resource : " + path);
        }
        BigDecimal amount = bound.equals("limits")
                ? limit(container, resource)
                : amount(requirements(container.getResources(), false), resource);
        return divided(amount, selector.getDivisor(), resource.equals("cpu"));
    }

    private Container named(String name) {
        for (Container container : Iterables.concat(
                Nullables.orEmpty(pod.getSpec().getContainers()),
                Nullables.orEmpty(pod.getSpec().getInitContainers()))) {
            if (name.equals(container.getName())) {
                return container;
            }
        }
        throw target.failure("container " + name + " not found");
    }

    private BigDecimal limit(Container container, String resource) {
        BigDecimal limit = amount(requirements(container.getResources(), true), resource);
        if (limit.signum() != 0 || resource.startsWith(HUGE_PAGES)) {
            return limit;
        }
        BigDecimal ofPod = limitOfPod(resource);
        if (ofPod.signum() != 0) {
            return ofPod;
        }
        if (placement.allocatable().isEmpty()) {
            // 0 would be the limit of a running container for as long as it runs
            throw target.failure("the allocatable resources of the node are not known yet");
        }
        return amount(placement.allocatable(), resource);
    }

    private BigDecimal limitOfPod(String resource) {
        // there is no limit of the ephemeral storage of a whole pod
        return resource.equals(EPHEMERAL_STORAGE)
                ? BigDecimal.ZERO
                : amount(requirements(pod.getSpec().getResources(), true), resource);
    }

    private static Map<String, Quantity> requirements(@Nullable ResourceRequirements resources, boolean limits) {
        if (resources == null) {
            return Map.of();
        }
        return Nullables.orEmpty(limits ? resources.getLimits() : resources.getRequests());
    }

    private static BigDecimal amount(Map<String, Quantity> quantities, String resource) {
        Quantity quantity = quantities.get(resource);
        return quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
    }

    private static boolean isSupported(String bound, String resource) {
        if (!bound.equals("limits") && !bound.equals("requests")) {
            return false;
        }
        return resource.equals("cpu")
                || resource.equals("memory")
                || resource.equals(EPHEMERAL_STORAGE)
                || resource.startsWith(HUGE_PAGES);
    }

    /** Divides after rounding both numbers up: to thousandths for CPU, to whole units for other resources. */
    private static String divided(BigDecimal amount, @Nullable Quantity divisor, boolean inThousandths) {
        BigDecimal requested = divisor == null ? BigDecimal.ZERO : Amounts.of(divisor);
        int scale = inThousandths ? 3 : 0;
        BigDecimal unit = (requested.signum() == 0 ? BigDecimal.ONE : requested).setScale(scale, RoundingMode.CEILING);
        return amount.setScale(scale, RoundingMode.CEILING)
                .divide(unit, 0, RoundingMode.CEILING)
                .toPlainString();
    }
}
