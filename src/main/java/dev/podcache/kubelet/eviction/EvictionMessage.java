package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.object.Amounts;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Why a pod was evicted for a resource of its node, for people and programs, with upstream's words. Pure. Follows {@code
 * evictionMessage} of the kubelet's {@code eviction/helpers.go}.
 */
final class EvictionMessage {

    private final String resource;
    private final StringBuilder text = new StringBuilder();
    private final List<String> containers = new ArrayList<>();
    private final List<String> usages = new ArrayList<>();

    private EvictionMessage(String resource) {
        this.resource = resource;
    }

    /** A message and the annotations of its event. */
    record Explained(String message, ImmutableMap<String, String> annotations) {}

    /**
     * Explains the eviction of a pod.
     *
     * @param due all thresholds for which pods are evicted now; the first one of the resource is shown
     */
    static Explained of(String resource, Pod pod, List<EvictionThreshold> due, Measurement measurement) {
        EvictionMessage message = new EvictionMessage(resource);
        message.text.append("The node was low on resource: ").append(resource).append(". ");
        due.stream()
                .filter(threshold -> threshold.signal().resource().equals(resource)
                        && measurement.supply(threshold.signal()).isPresent())
                .findFirst()
                .ifPresent(threshold -> message.add(
                        threshold, measurement.supply(threshold.signal()).orElseThrow()));
        Optional<PodUsage> usage = measurement.usage(pod);
        if (usage.isEmpty()) {
            return new Explained(message.text.toString(), ImmutableMap.of());
        }
        usage.get().containers().forEach(container -> message.add(pod, container));
        return new Explained(message.text.toString(), message.annotations());
    }

    private void add(EvictionThreshold threshold, Supply supply) {
        text.append("Threshold quantity: ")
                .append(threshold.value().quantity(supply.capacity()))
                .append(", available: ")
                .append(ResourceText.of(resource, supply.available()))
                .append(". ");
    }

    /** Adds a container, which may be an init container, if it uses more than it requests. */
    private void add(Pod pod, ContainerUsage usage) {
        boolean measured = resource.equals("memory") || resource.equals("ephemeral-storage");
        if (!measured) {
            return;
        }
        for (Container container :
                Iterables.concat(pod.getSpec().getContainers(), pod.getSpec().getInitContainers())) {
            if (usage.name().equals(container.getName())) {
                long used = resource.equals("memory") ? usage.workingSetBytes() : usage.diskBytes() + usage.logBytes();
                Quantity request = PodResources.request(container, resource).orElse(new Quantity("0"));
                if (BigDecimal.valueOf(used).compareTo(Amounts.of(request)) > 0) {
                    add(container.getName(), ResourceText.bytes(used), ResourceText.text(request));
                }
            }
        }
    }

    private void add(String container, String used, String requested) {
        text.append("Container ")
                .append(container)
                .append(" was using ")
                .append(used)
                .append(", request is ")
                .append(requested)
                .append(", has larger consumption of ")
                .append(resource)
                .append(". ");
        containers.add(container);
        usages.add(used);
    }

    private ImmutableMap<String, String> annotations() {
        return ImmutableMap.of(
                "offending_containers",
                String.join(",", containers),
                "offending_containers_usage",
                String.join(",", usages),
                "starved_resource",
                resource);
    }
}
