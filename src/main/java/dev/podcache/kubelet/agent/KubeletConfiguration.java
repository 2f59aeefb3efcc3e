package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeLabels;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.nodestatus.NodeTaints;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.util.Optional;

/**
 * The complete configuration of a node agent. Immutable. The defaults are those of the kubelet's {@code
 * pkg/kubelet/apis/config/v1beta1/defaults.go}; the fields are grouped by purpose.
 *
 * @param eviction when pods are evicted, and what of memory and disk is kept free for that
 * @param staticPods where static pods are; empty if the node has none
 * @param health the port of the agent's own health
 */
public record KubeletConfiguration(
        ObjectCaching caching,
        HeartbeatTimes heartbeats,
        RequestLimit rates,
        NodeRegistrationOptions registration,
        Reservations reservations,
        EvictionOptions eviction,
        Endpoint endpoint,
        Optional<StaticPodFiles> staticPods,
        HealthPort health) {

    /** The kubelet's defaults. */
    public static final KubeletConfiguration DEFAULT = new KubeletConfiguration(
            ObjectCaching.usual(ChangeDetectionStrategy.WATCH, Duration.ofMinutes(1)),
            new HeartbeatTimes(Duration.ofSeconds(10), Duration.ofMinutes(5), 40),
            new RequestLimit(50, 100),
            new NodeRegistrationOptions(true, ImmutableMap.of(), ImmutableList.of(), "", NodeIps.NONE),
            new Reservations(110, 0, NodeReservations.none()),
            EvictionOptions.defaults(),
            new Endpoint(true, "0.0.0.0", 10_250, "", "", ""),
            Optional.empty(),
            new HealthPort("127.0.0.1", 10_248));

    /** Returns a copy whose node has neither an HTTPS endpoint nor a health port. */
    public KubeletConfiguration withoutEndpoint() {
        return new KubeletConfiguration(
                caching,
                heartbeats,
                rates,
                registration,
                reservations,
                eviction,
                Endpoint.NONE,
                staticPods,
                HealthPort.OFF);
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
            boolean register,
            ImmutableMap<String, String> labels,
            ImmutableList<Taint> taints,
            String providerId,
            NodeIps addresses) {

        NodeRegistrationOptions withRegister(boolean value) {
            return new NodeRegistrationOptions(value, labels, taints, providerId, addresses);
        }

        /** Throws an {@link IllegalArgumentException} if a label is not legal, or a node may not set it. */
        NodeRegistrationOptions withLabels(ImmutableMap<String, String> values) {
            NodeLabels.requireAllowed(values);
            return new NodeRegistrationOptions(register, values, taints, providerId, addresses);
        }

        /** Throws an {@link IllegalArgumentException} if a taint is not legal. */
        NodeRegistrationOptions withTaints(ImmutableList<Taint> values) {
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
