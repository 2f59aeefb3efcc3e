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
 * Requests and limits that a container can ask for ({@code resourceFieldRef}), in units of a divisor, rounded up. Who
 * has no limit of CPU, memory or ephemeral storage is told what the node has for pods; a request that is not made is 0.
 *
 * <p>Follows {@code ExtractContainerResourceValue} of {@code pkg/api/v1/resource/helpers.go}.
 */
final class ContainerResources {

    private static final String HUGE_PAGES = "hugepages-";

    private final Pod pod;
    private final PodPlacement placement;
    private final Subject subject;

    ContainerResources(Pod pod, PodPlacement placement, Subject subject) {
        this.pod = pod;
        this.placement = placement;
        this.subject = subject;
    }

    /**
     * The value of {@code selector}.
     *
     * @param own of whom it is if the selector names no container; null if it must name one
     */
    String value(ResourceFieldSelector selector, @Nullable Container own) {
        String name = AbsentObject.orEmpty(selector.getContainerName());
        Container container = name.isEmpty() && own != null ? own : named(name);
        String path = AbsentObject.orEmpty(selector.getResource());
        int dot = path.indexOf('.');
        String side = dot < 0 ? "" : path.substring(0, dot);
        String resource = path.substring(dot + 1);
        if (!isSupported(side, resource)) {
            throw subject.failure("unsupported container resource : " + path);
        }
        BigDecimal amount =
                side.equals("limits") ? limit(container, resource) : amount(requirements(container, false), resource);
        return divided(amount, selector.getDivisor(), resource.equals("cpu"));
    }

    private Container named(String name) {
        for (Container container : Iterables.concat(
                AbsentObject.orEmpty(pod.getSpec().getContainers()),
                AbsentObject.orEmpty(pod.getSpec().getInitContainers()))) {
            if (name.equals(container.getName())) {
                return container;
            }
        }
        throw subject.failure("container " + name + " not found");
    }

    private BigDecimal limit(Container container, String resource) {
        BigDecimal limit = amount(requirements(container, true), resource);
        boolean defaulted = limit.signum() == 0 && !resource.startsWith(HUGE_PAGES);
        return defaulted ? amount(placement.allocatable(), resource) : limit;
    }

    private static Map<String, Quantity> requirements(Container container, boolean limits) {
        ResourceRequirements resources = container.getResources();
        if (resources == null) {
            return Map.of();
        }
        return AbsentObject.orEmpty(limits ? resources.getLimits() : resources.getRequests());
    }

    private static BigDecimal amount(Map<String, Quantity> quantities, String resource) {
        Quantity quantity = quantities.get(resource);
        return quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
    }

    private static boolean isSupported(String side, String resource) {
        if (!side.equals("limits") && !side.equals("requests")) {
            return false;
        }
        return resource.equals("cpu")
                || resource.equals("memory")
                || resource.equals("ephemeral-storage")
                || resource.startsWith(HUGE_PAGES);
    }

    /** CPU counts in thousandths, everything else in whole units, and so does its divisor. */
    private static String divided(BigDecimal amount, @Nullable Quantity divisor, boolean thousandths) {
        BigDecimal by = divisor == null ? BigDecimal.ZERO : Amounts.of(divisor);
        int scale = thousandths ? 3 : 0;
        BigDecimal unit = (by.signum() == 0 ? BigDecimal.ONE : by).setScale(scale, RoundingMode.CEILING);
        return amount.setScale(scale, RoundingMode.CEILING)
                .divide(unit, 0, RoundingMode.CEILING)
                .toPlainString();
    }
}
