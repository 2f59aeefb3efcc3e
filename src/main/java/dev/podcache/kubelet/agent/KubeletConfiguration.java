package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;

/**
 * How the agent works, complete: what the command line says, else the file, else the kubelet's defaults. Immutable; the
 * names are those of the kubelet's {@code KubeletConfiguration}, the defaults those of its {@code
 * pkg/kubelet/apis/config/v1beta1/defaults.go}.
 *
 * @param pressureTransition how long pressure must be gone before it counts as gone
 */
public record KubeletConfiguration(
        ObjectCaching caching,
        HeartbeatTimes heartbeats,
        RequestLimit rates,
        NodeRegistrationOptions registration,
        Reservations reservations,
        Duration pressureTransition,
        int kubeletPort) {

    /**
     * When the node and its lease are reported.
     *
     * @param statusUpdate how often the status is computed, and sent if it changed
     * @param statusReport how often it is sent if it did not
     * @param leaseSeconds how long the lease is valid
     */
    public record HeartbeatTimes(Duration statusUpdate, Duration statusReport, int leaseSeconds) {}

    /**
     * What is said of the node when it is registered.
     *
     * @param register whether it is registered at all
     * @param providerId of the machine at its cloud provider, or ""
     */
    public record NodeRegistrationOptions(
            boolean register,
            ImmutableMap<String, String> labels,
            ImmutableList<Taint> taints,
            String providerId,
            NodeIps addresses) {}

    /**
     * How much of the machine is for pods.
     *
     * @param podsPerCore 0 for any number
     * @param reserved what is not, and from where on the node is under pressure
     */
    public record Reservations(int maxPods, int podsPerCore, NodeReservations reserved) {}
}
