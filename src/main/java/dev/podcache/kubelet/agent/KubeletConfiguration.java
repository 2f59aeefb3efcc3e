package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeLabels;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.nodestatus.NodeTaints;
import dev.podcache.kubelet.podconfig.ContainerConfiguration;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.Names;
import dev.podcache.object.Quoted;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The complete configuration of a node agent. Immutable. The defaults are those of the kubelet's {@code
 * pkg/kubelet/apis/config/v1beta1/defaults.go}; the fields are grouped by purpose.
 *
 * @param clusterDomain the end of the full names of pods, such as {@code cluster.local}; "" for no full names. Unlike a
 *     kubelet, the agent has the domain of kubeadm by default, because what starts a kubelet configures it
 * @param eviction when pods are evicted, and what of memory and disk is kept free for that
 * @param staticPods where static pods are; empty if the node has none
 * @param health the port of the agent's own health
 * @param restarts how long the restart of a container that ends again and again waits
 */
public record KubeletConfiguration(
        ObjectCaching caching,
        HeartbeatTimes heartbeats,
        RequestLimit rates,
        String clusterDomain,
        NodeRegistrationOptions registration,
        Reservations reservations,
        EvictionOptions eviction,
        Endpoint endpoint,
        Optional<StaticPodFiles> staticPods,
        HealthPort health,
        CrashLoopBackOff restarts) {

    /** The kubelet's defaults. */
    public static final KubeletConfiguration DEFAULT = new KubeletConfiguration(
            ObjectCaching.usual(ChangeDetectionStrategy.WATCH, Duration.ofMinutes(1)),
            new HeartbeatTimes(Duration.ofSeconds(10), Duration.ofMinutes(5), 40),
            new RequestLimit(50, 100),
            ContainerConfiguration.DEFAULT_CLUSTER_DOMAIN,
            new NodeRegistrationOptions(true, ImmutableMap.of(), ImmutableList.of(), "", NodeIps.NONE),
            new Reservations(110, 0, NodeReservations.none()),
            EvictionOptions.defaults(),
            new Endpoint(true, "0.0.0.0", 10_250, "", "", ""),
            Optional.empty(),
            new HealthPort("127.0.0.1", 10_248),
            new CrashLoopBackOff(CrashLoopBackOff.LONGEST));

    /**
     * Returns {@code value} if it can be the domain of a cluster.
     *
     * @throws IllegalArgumentException otherwise
     */
    public static String legalDomain(String value) {
        if (!value.isEmpty() && !Names.isSubdomain(value)) {
            throw new IllegalArgumentException("clusterDomain " + Quoted.value(value)
                    + " is no DNS name: use lower-case letters, digits, '-' and '.', as in cluster.local");
        }
        return value;
    }

    /** Returns a copy whose node has neither an HTTPS endpoint nor a health port. */
    public KubeletConfiguration withoutEndpoint() {
        return new KubeletConfiguration(
                caching,
                heartbeats,
                rates,
                clusterDomain,
                registration,
                reservations,
                eviction,
                Endpoint.NONE,
                staticPods,
                HealthPort.OFF,
                restarts);
    }

    /**
     * The times of heartbeats.
     *
     * @param statusUpdate how often the status is computed, and sent if it changed
     * @param statusReport how often the status is sent if it did not change
     * @param leaseSeconds the duration of the Lease
     */
    public record HeartbeatTimes(Duration statusUpdate, Duration statusReport, int leaseSeconds) {}

    /**
     * How the node is registered.
     *
     * @param register whether the agent registers the node
     * @param providerId the ID of the machine at its cloud provider, or ""
     */
    public record NodeRegistrationOptions(
            boolean register, Map<String, String> labels, List<Taint> taints, String providerId, NodeIps addresses) {

        public NodeRegistrationOptions {
            labels = ImmutableMap.copyOf(labels);
            taints = ImmutableList.copyOf(taints);
        }

        NodeRegistrationOptions withRegister(boolean value) {
            return new NodeRegistrationOptions(value, labels, taints, providerId, addresses);
        }

        /** Throws an {@link IllegalArgumentException} if a label is not legal, or a node may not set it. */
        NodeRegistrationOptions withLabels(Map<String, String> values) {
            NodeLabels.requireAllowed(values);
            return new NodeRegistrationOptions(register, values, taints, providerId, addresses);
        }

        /** Throws an {@link IllegalArgumentException} if a taint is not legal. */
        NodeRegistrationOptions withTaints(List<Taint> values) {
            NodeTaints.requireLegal(values);
            return new NodeRegistrationOptions(register, labels, values, providerId, addresses);
        }

        NodeRegistrationOptions withAddresses(NodeIps values) {
            return new NodeRegistrationOptions(register, labels, taints, providerId, values);
        }
    }

    /**
     * The part of the machine that pods can use.
     *
     * @param podsPerCore 0 for no limit
     * @param reserved the resources that pods cannot use; the eviction thresholds in it have no effect
     */
    public record Reservations(int maxPods, int podsPerCore, NodeReservations reserved) {}

    /**
     * The node's HTTPS endpoint.
     *
     * @param certificate the path of its certificate, or "" for a self-signed one
     * @param key the path of the certificate's private key, or ""
     * @param clientAuthority the path of the certificates of the authority of its clients, or "" for clients with tokens
     *     only
     */
    public record Endpoint(
            boolean enabled, String address, int port, String certificate, String key, String clientAuthority) {

        /** No endpoint. */
        static final Endpoint NONE = new Endpoint(false, "", 0, "", "", "");
    }

    /**
     * How long the restart of a container waits that ends again and again.
     *
     * @param longest the longest pause, from 1 s to 5 min; the first is 10 s, or this if it is shorter
     */
    public record CrashLoopBackOff(Duration longest) {

        /** The shortest that is allowed for the longest pause. */
        public static final Duration SHORTEST = Duration.ofSeconds(1);

        /** The longest that is allowed, and the default. */
        public static final Duration LONGEST = Duration.ofMinutes(5);

        /** Throws an {@link IllegalArgumentException} that names the field, if the pause is not in range. */
        public CrashLoopBackOff {
            if (longest.compareTo(SHORTEST) < 0 || longest.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("maxContainerRestartPeriod must be from " + Durations.text(SHORTEST)
                        + " to " + Durations.text(LONGEST) + ", but is " + Durations.text(longest));
            }
        }
    }

    /**
     * Where the agent serves {@code /livez}, {@code /readyz} and {@code /healthz} without TLS and authentication; at a
     * loopback address also {@code /metrics}, {@code /configz}, {@code /statusz}, {@code /flagz} and {@code
     * /debug/objects}.
     *
     * @param address an IP address
     * @param port 0 for none
     */
    public record HealthPort(String address, int port) {

        /** No port. */
        static final HealthPort OFF = new HealthPort("127.0.0.1", 0);

        boolean isOn() {
            return port != 0;
        }
    }
}
