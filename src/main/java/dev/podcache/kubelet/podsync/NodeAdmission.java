package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.object.Amounts;
import dev.podcache.pod.CriticalPods;
import dev.podcache.pod.NodeAffinityMatch;
import dev.podcache.pod.PodOrigin;
import dev.podcache.pod.PodResources;
import dev.podcache.pod.RestartRules;
import dev.podcache.pod.TaintToleration;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodDNSConfig;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Taint;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Admits the pods that fit on their node, whoever has assigned them: by the node's system, labels, ports, taints, and by what
 * is left of what pods can use of it. Thread-safe.
 *
 * <p>Follows {@code predicateAdmitHandler} and {@code generalFilter} of the kubelet's {@code pkg/kubelet/lifecycle/predicate.go},
 * and {@code declaredFeaturesAdmitHandler} of its {@code handlers.go}, with their reasons and messages. The differences:
 * for a critical pod, such as a static one, no other pods are preempted where resources are missing: it is admitted, and the
 * node's eviction decides. While the Node is not known, or its status is empty, only what the Node has no part in is decided:
 * the system, and what no runtime or only some give. Of the latter, pods with {@code hostUsers: false}, {@code hostAliases} and
 * {@code dnsConfig} are refused here too, unless the runtime declares that it gives them. A kubelet admits such pods: the reasons
 * {@code UserNamespacesNotSupported}, {@code HostAliasesNotSupported} and {@code DNSConfigNotSupported} and their messages are not
 * a kubelet's. A controller makes another pod for each that was refused, and the scheduler may assign it to the same node, so a
 * taint of the node, or a node selector of such pods, should keep them away.
 */
public final class NodeAdmission implements PodAdmission {

    /*
     * The lock guards `admitted`, so that of two pods for which there is room for one, one is admitted. The others on the node
     * are the active pods that were admitted: by this object, or before the agent started, when their status has a start time.
     */

    private static final String AFFINITY = "NodeAffinity";
    private static final String OS_LABEL = "kubernetes.io/os";
    private static final int MILLI = 3;

    private final AskedNode view;
    private final Supplier<List<Pod>> active;
    private final Predicate<String> hasStatus;
    private final PodIsolation isolation;
    private final Set<String> admitted = new HashSet<>(); // guarded by this

    /**
     * What is known of a node.
     *
     * @param os the system, such as {@code linux}
     * @param known returns the Node of a pod as last seen; empty if it is not known
     * @param asked asks the API server for the Node of a pod, and may block; empty if it does not answer
     */
    public record AskedNode(String os, Function<Pod, Optional<Node>> known, Function<Pod, Optional<Node>> asked) {}

    /**
     * Creates an instance that has admitted no pod.
     *
     * @param active returns the pods of the node that have not ended; must not block
     * @param hasStatus returns whether this agent has reported a status of the pod with a UID; must not block
     * @param isolation what the runtime gives
     */
    public NodeAdmission(
            AskedNode view, Supplier<List<Pod>> active, Predicate<String> hasStatus, PodIsolation isolation) {
        this.view = view;
        this.active = active;
        this.hasStatus = hasStatus;
        this.isolation = isolation;
    }

    @Override
    public Optional<PodRejection> rejection(Pod pod) {
        PodRejection unsupported = unsupported(pod);
        if (unsupported != null) {
            return Optional.of(unsupported);
        }
        PodRejection rejection =
                view.known().apply(pod).map(node -> decide(pod, node)).orElse(null);
        if (rejection == null || !rejection.reason().equals(AFFINITY)) {
            return Optional.ofNullable(rejection);
        }
        // as in a kubelet: the labels may have changed since
        return view.asked()
                .apply(pod)
                .map(node -> Optional.ofNullable(decide(pod, node)))
                .orElse(Optional.of(rejection));
    }

    private synchronized @Nullable PodRejection decide(Pod pod, Node node) {
        List<Pod> others = new ArrayList<>();
        Set<String> there = new HashSet<>();
        for (Pod other : active.get()) {
            String uid = other.getMetadata().getUid();
            there.add(uid);
            if (!uid.equals(pod.getMetadata().getUid()) && wasAdmittedLocked(other)) {
                others.add(withWhatItHas(other));
            }
        }
        admitted.retainAll(there);
        PodRejection rejection = rejection(pod, node, others);
        if (rejection == null) {
            admitted.add(pod.getMetadata().getUid());
        }
        return rejection;
    }

    /** Returns a pod whose resize is refused with the resources that its containers keep; any other as it is. */
    private static Pod withWhatItHas(Pod pod) {
        PodStatus status = pod.getStatus();
        boolean refused = status != null
                && status.getConditions().stream()
                        .anyMatch(condition -> "PodResizePending".equals(condition.getType())
                                && "Infeasible".equals(condition.getReason()));
        if (!refused) {
            return pod;
        }
        Map<String, ResourceRequirements> kept = new HashMap<>();
        Stream.concat(status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .filter(container -> container.getResources() != null)
                .forEach(container -> kept.put(container.getName(), container.getResources()));
        return PodResize.withResources(pod, kept);
    }

    private boolean wasAdmittedLocked(Pod pod) {
        String uid = pod.getMetadata().getUid();
        return admitted.contains(uid)
                || hasStatus.test(uid)
                || (pod.getStatus() != null && pod.getStatus().getStartTime() != null);
    }

    /** Returns why a pod cannot run here on any Node; null if it can. */
    private @Nullable PodRejection unsupported(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        String labelled = labels == null ? null : labels.get(OS_LABEL);
        if (labelled != null && !labelled.equals(view.os())) {
            return new PodRejection(
                    "PodOSSelectorNodeLabelDoesNotMatch",
                    "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label");
        }
        if (pod.getSpec().getOs() != null
                && !view.os().equals(pod.getSpec().getOs().getName())) {
            return new PodRejection("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS");
        }
        PodRejection missing = missingIsolation(pod);
        return missing == null ? missingFeature(pod.getSpec()) : missing;
    }

    /** Returns why a pod does not fit beside {@code others}; null if it does. */
    private static @Nullable PodRejection rejection(Pod pod, Node node, List<Pod> others) {
        PodRejection missing = missingResource(pod, node, others);
        return missing == null ? failedPredicate(pod, node, others) : missing;
    }

    private @Nullable PodRejection missingFeature(PodSpec spec) {
        if (isGiven(spec.getHostAliases()) && !isolation.hostAliases()) {
            return new PodRejection("HostAliasesNotSupported", "hostAliases is not supported in this node");
        }
        if (asksForAnything(spec.getDnsConfig()) && !isolation.dnsConfig()) {
            return new PodRejection("DNSConfigNotSupported", "dnsConfig is not supported in this node");
        }
        return RestartRules.restartAllContainers(spec)
                ? new PodRejection(
                        "PodFeatureUnsupported",
                        "Pod requires node features that are not available: RestartAllContainersOnContainerExits")
                : null;
    }

    private static boolean asksForAnything(@Nullable PodDNSConfig config) {
        return config != null
                && (isGiven(config.getNameservers()) || isGiven(config.getSearches()) || isGiven(config.getOptions()));
    }

    /** A pod of a file may have null for a list. */
    private static boolean isGiven(@Nullable List<?> list) {
        return list != null && !list.isEmpty();
    }

    private @Nullable PodRejection missingIsolation(Pod pod) {
        boolean strict = pod.getSpec().getSecurityContext() != null
                && "Strict".equals(pod.getSpec().getSecurityContext().getSupplementalGroupsPolicy());
        if (strict && !isolation.strictSupplementalGroups()) {
            return new PodRejection(
                    "SupplementalGroupsPolicyNotSupported",
                    "SupplementalGroupsPolicy=Strict is not supported in this node");
        }
        return Boolean.FALSE.equals(pod.getSpec().getHostUsers()) && !isolation.userNamespaces()
                ? new PodRejection("UserNamespacesNotSupported", "hostUsers=false is not supported in this node")
                : null;
    }

    private static @Nullable PodRejection missingResource(Pod pod, Node node, List<Pod> others) {
        Map<String, Quantity> allocatable =
                node.getStatus() == null ? Map.of() : node.getStatus().getAllocatable();
        if (allocatable == null || allocatable.isEmpty() || CriticalPods.isCritical(pod)) {
            return null;
        }
        long mostPods = whole(amount(allocatable.get("pods")));
        if (others.size() + 1L > mostPods) {
            return outOf("pods", 1, others.size(), mostPods);
        }
        for (String resource : requested(pod)) {
            boolean isExtended = resource.contains("/") && !resource.contains("kubernetes.io/");
            if (isExtended && !allocatable.containsKey(resource)) {
                // of the cluster, or of a device that another component looks after
                continue;
            }
            BigDecimal request = request(pod, resource);
            BigDecimal capacity = amount(allocatable.get(resource));
            BigDecimal used =
                    others.stream().map(each -> request(each, resource)).reduce(BigDecimal.ZERO, BigDecimal::add);
            if (request.signum() > 0 && request.compareTo(capacity.subtract(used)) > 0) {
                int shift = resource.equals("cpu") ? MILLI : 0;
                return outOf(
                        resource,
                        whole(request.movePointRight(shift)),
                        whole(used.movePointRight(shift)),
                        whole(capacity.movePointRight(shift)));
            }
        }
        return null;
    }

    private static PodRejection outOf(String resource, long requested, long used, long capacity) {
        return new PodRejection(
                "OutOf" + resource,
                "Node didn't have enough resource: " + resource + ", requested: " + requested + ", used: " + used
                        + ", capacity: " + capacity);
    }

    /** Returns the resources that can be missing: first those of a machine, in a kubelet's order. */
    private static List<String> requested(Pod pod) {
        Set<String> others = new TreeSet<>();
        containers(pod)
                .filter(container -> container.getResources() != null
                        && container.getResources().getRequests() != null)
                .forEach(container ->
                        others.addAll(container.getResources().getRequests().keySet()));
        others.removeIf(resource -> !resource.contains("/") && !resource.startsWith("hugepages-"));
        List<String> all = new ArrayList<>(List.of("cpu", "memory", "ephemeral-storage"));
        all.addAll(others);
        return all;
    }

    private static Stream<Container> containers(Pod pod) {
        return Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream());
    }

    /** A quantity that is not valid counts as none: no API server takes such a pod. */
    private static BigDecimal request(Pod pod, String resource) {
        try {
            return PodResources.request(pod, resource);
        } catch (IllegalArgumentException invalid) {
            return BigDecimal.ZERO;
        }
    }

    private static BigDecimal amount(@Nullable Quantity quantity) {
        try {
            return quantity == null ? BigDecimal.ZERO : Amounts.of(quantity);
        } catch (IllegalArgumentException invalid) {
            return BigDecimal.ZERO;
        }
    }

    private static long whole(BigDecimal amount) {
        return amount.min(BigDecimal.valueOf(Long.MAX_VALUE))
                .setScale(0, RoundingMode.CEILING)
                .longValue();
    }

    private static @Nullable PodRejection failedPredicate(Pod pod, Node node, List<Pod> others) {
        if (!NodeAffinityMatch.accepts(pod.getSpec(), node)) {
            return failed(AFFINITY, "node(s) didn't match Pod's node affinity/selector");
        }
        String wanted = pod.getSpec().getNodeName();
        if (wanted != null
                && !wanted.isEmpty()
                && !wanted.equals(node.getMetadata().getName())) {
            return failed("NodeName", "node(s) didn't match the requested node name");
        }
        List<ContainerPort> taken =
                others.stream().flatMap(NodeAdmission::hostPorts).toList();
        boolean conflicts = hostPorts(pod).anyMatch(port -> taken.stream().anyMatch(other -> isSame(port, other)));
        if (conflicts) {
            return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
        }
        List<Taint> taints = node.getSpec() == null ? List.of() : node.getSpec().getTaints();
        boolean tolerated = PodOrigin.isStatic(pod)
                || taints.stream()
                        .filter(taint -> "NoExecute".equals(taint.getEffect()))
                        .allMatch(taint -> pod.getSpec().getTolerations().stream()
                                .anyMatch(each -> TaintToleration.tolerates(each, taint)));
        return tolerated ? null : failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
    }

    private static PodRejection failed(String predicate, String why) {
        return new PodRejection(predicate, "Predicate " + predicate + " failed: " + why);
    }

    private static Stream<ContainerPort> hostPorts(Pod pod) {
        return Stream.concat(
                        pod.getSpec().getInitContainers().stream().filter(PodResources::isSidecar),
                        pod.getSpec().getContainers().stream())
                .flatMap(container -> container.getPorts().stream())
                .filter(port -> port.getHostPort() != null && port.getHostPort() > 0);
    }

    private static boolean isSame(ContainerPort one, ContainerPort other) {
        String ip = ip(one);
        String otherIp = ip(other);
        return one.getHostPort().equals(other.getHostPort())
                && protocol(one).equals(protocol(other))
                && (ip.equals(otherIp) || ip.equals("0.0.0.0") || otherIp.equals("0.0.0.0"));
    }

    private static String ip(ContainerPort port) {
        return port.getHostIP() == null || port.getHostIP().isEmpty() ? "0.0.0.0" : port.getHostIP();
    }

    private static String protocol(ContainerPort port) {
        return port.getProtocol() == null || port.getProtocol().isEmpty() ? "TCP" : port.getProtocol();
    }
}
