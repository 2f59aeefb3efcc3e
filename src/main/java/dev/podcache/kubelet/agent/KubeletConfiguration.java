package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;

/**
 * The complete configuration of a node agent. Immutable. The names follow the kubelet's {@code KubeletConfiguration}, the
 * defaults its {@code pkg/kubelet/apis/config/v1beta1/defaults.go}.
 *
 * @param pressureTransition how long the node reports pressure after it has ended
 */
public record KubeletConfiguration(
        ObjectCaching caching,
        HeartbeatTimes heartbeats,
        RequestLimit rates,
        NodeRegistrationOptions registration,
        Reservations reservations,
        Duration pressureTransition,
        Endpoint endpoint) {

    /** The kubelet's defaults. */
    public static final KubeletConfiguration DEFAULT = new KubeletConfiguration(
            ObjectCaching.usual(ChangeDetectionStrategy.WATCH, Duration.ofMinutes(1)),
            new HeartbeatTimes(Duration.ofSeconds(10), Duration.ofMinutes(5), 40),
            new RequestLimit(50, 100),
            new NodeRegistrationOptions(true, ImmutableMap.of(), ImmutableList.of(), "", NodeIps.NONE),
            new Reservations(110, 0, NodeReservations.none()),
            Duration.ofMinutes(5),
            new Endpoint(true, "0.0.0.0", 10_250, "", "", ""));

    /** Returns a copy whose node has no HTTPS endpoint. */
    public KubeletConfiguration withoutEndpoint() {
        return new KubeletConfiguration(
                caching, heartbeats, rates, registration, reservations, pressureTransition, Endpoint.NONE);
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

        NodeRegistrationOptions withLabels(ImmutableMap<String, String> values) {
            return new NodeRegistrationOptions(register, values, taints, providerId, addresses);
        }

        NodeRegistrationOptions withTaints(ImmutableList<Taint> values) {
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
     * @param reserved the resources that pods cannot use, and the thresholds of pressure
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
}
