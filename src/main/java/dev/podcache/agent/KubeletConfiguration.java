package dev.podcache.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Range;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.nodestatus.EvictionThresholds;
import dev.podcache.nodestatus.NodeIps;
import dev.podcache.nodestatus.NodeLabels;
import dev.podcache.nodestatus.NodeReservations;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;

/**
 * How the agent works, complete: what the command line says, else the file, else the kubelet's defaults. Immutable; the
 * names are those of the kubelet's {@code KubeletConfiguration}, the defaults those of its {@code
 * pkg/kubelet/apis/config/v1beta1/defaults.go}.
 *
 * @param pressureTransition how long pressure must be gone before it counts as gone
 */
record KubeletConfiguration(
        ObjectCaching caching,
        HeartbeatTimes heartbeats,
        RequestLimit rates,
        Registration registration,
        Reservations reservations,
        Duration pressureTransition,
        int kubeletPort) {

    private static final Range<Integer> FROM_0 = Range.closed(0, Integer.MAX_VALUE);
    private static final Range<Integer> FROM_1 = Range.closed(1, Integer.MAX_VALUE);
    private static final Range<Integer> PORTS = Range.closed(1, 65_535);

    /**
     * When the node and its lease are reported.
     *
     * @param statusUpdate how often the status is computed, and sent if it changed
     * @param statusReport how often it is sent if it did not
     * @param leaseSeconds how long the lease is valid
     */
    record HeartbeatTimes(Duration statusUpdate, Duration statusReport, int leaseSeconds) {}

    /**
     * What is said of the node when it is registered.
     *
     * @param register whether it is registered at all
     * @param providerId of the machine at its cloud provider, or ""
     */
    record Registration(
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
    record Reservations(int maxPods, int podsPerCore, NodeReservations reserved) {}

    /**
     * Completes what was written.
     *
     * @param flags win over {@code file}; as in the kubelet they change no default that depends
     *     on another field of the file
     * @throws IllegalSetting if something in them is of another type or out of range
     */
    static KubeletConfiguration of(Settings file, Settings flags) {
        Settings all = flags.orElse(file);
        return new KubeletConfiguration(
                ObjectCaching.of(all),
                new HeartbeatTimes(
                        all.duration("nodeStatusUpdateFrequency", Duration.ofSeconds(10)),
                        // who sets the one in the file, long before the other came to be, meant both
                        file.duration(
                                "nodeStatusReportFrequency",
                                file.duration("nodeStatusUpdateFrequency", Duration.ofMinutes(5))),
                        all.integer("nodeLeaseDurationSeconds", FROM_1, 40)),
                new RequestLimit(all.integer("kubeAPIQPS", FROM_1, 50), all.integer("kubeAPIBurst", FROM_1, 100)),
                registration(all),
                new Reservations(
                        all.integer("maxPods", FROM_0, 110), all.integer("podsPerCore", FROM_0, 0), reserved(all)),
                all.duration("evictionPressureTransitionPeriod", Duration.ofMinutes(5)),
                all.integer("port", PORTS, 10_250));
    }

    private static Registration registration(Settings all) {
        return new Registration(
                all.bool("registerNode", true),
                all.text("nodeLabels", NodeLabels::parse, ImmutableMap.of()),
                TaintSettings.of(all),
                all.text("providerID", ""),
                all.text("nodeIP", NodeIps::parse, NodeIps.NONE));
    }

    private static NodeReservations reserved(Settings all) {
        NodeReservations none = NodeReservations.none().withHardEviction(evictionHard(all));
        NodeReservations system = all.map("systemReserved", none::withSystemReserved, none);
        return all.map("kubeReserved", system::withKubeReserved, system);
    }

    /** What is written replaces all defaults, unless they are to be merged; a flag always does. */
    private static EvictionThresholds evictionHard(Settings all) {
        boolean merge = all.bool("mergeDefaultEvictionSettings", false);
        EvictionThresholds written = all.map("evictionHard", EvictionThresholds::parse, EvictionThresholds.defaults());
        Setting setting = all.find("evictionHard");
        return merge && setting != null && !setting.ofFlag() ? written.mergedWithDefaults() : written;
    }
}
