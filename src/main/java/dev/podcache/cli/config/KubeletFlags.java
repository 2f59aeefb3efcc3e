package dev.podcache.cli.config;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The supported flags of the kubelet, in its spelling. Each flag overrides its field in the file. */
final class KubeletFlags {

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "a KubeletConfiguration in YAML or JSON; the flags below override it")
    private @Nullable Path config;

    @Option(
            names = "--config-dir",
            paramLabel = "DIR",
            description = "a folder with further configurations, *.conf, read in the order of their names: a later file"
                    + " overrides earlier ones and --config")
    private @Nullable Path configDir;

    @Option(
            names = "--sync-frequency",
            paramLabel = "DURATION",
            description = "how often all objects are read (default: 1m)")
    private @Nullable Duration syncFrequency;

    @Option(
            names = "--node-status-update-frequency",
            paramLabel = "DURATION",
            description = "how often the node's status is computed (default: 10s)")
    private @Nullable Duration nodeStatusUpdateFrequency;

    @Option(
            names = "--node-status-report-frequency",
            paramLabel = "DURATION",
            description =
                    "how often an unchanged status is reported (default: 5m, or nodeStatusUpdateFrequency if the file"
                            + " sets only that)")
    private @Nullable Duration nodeStatusReportFrequency;

    @Option(
            names = "--node-lease-duration-seconds",
            paramLabel = "SECONDS",
            description = "how long the node's Lease lasts; it is renewed after a quarter of that (default: 40)")
    private @Nullable Integer nodeLeaseDurationSeconds;

    @Option(
            names = "--kube-api-qps",
            paramLabel = "N",
            description = "requests per second to the API server, except watches and heartbeats (default: 50)")
    private @Nullable Integer kubeApiQps;

    @Option(
            names = "--kube-api-burst",
            paramLabel = "N",
            description = "how many requests may be sent at once (default: 100)")
    private @Nullable Integer kubeApiBurst;

    @Option(
            names = "--register-node",
            arity = "0..1",
            fallbackValue = "true",
            paramLabel = "BOOL",
            description = "whether to register the node (default: true)")
    private @Nullable Boolean registerNode;

    @Option(names = "--node-labels", paramLabel = "K=V,...", description = "labels to register the node with")
    private @Nullable String nodeLabels;

    @Option(
            names = "--register-with-taints",
            paramLabel = "K=V:EFFECT,...",
            description = "taints to register the node with")
    private @Nullable String taints;

    @Option(
            names = "--node-ip",
            paramLabel = "IP,...",
            description = "the address of the node, or its IPv4 and IPv6 addresses")
    private @Nullable String nodeIp;

    @Option(
            names = "--cluster-domain",
            paramLabel = "DOMAIN",
            description = "the end of the full names of pods with a subdomain (default: cluster.local)")
    private @Nullable String clusterDomain;

    @Option(
            names = "--max-pods",
            paramLabel = "N",
            description = "the maximum number of pods on the node (default: 110)")
    private @Nullable Integer maxPods;

    @Option(
            names = "--system-reserved",
            paramLabel = "R=Q,...",
            description = "resources reserved for the system, such as cpu=200m,memory=1Gi")
    private @Nullable String systemReserved;

    @Option(names = "--kube-reserved", paramLabel = "R=Q,...", description = "resources reserved for Kubernetes")
    private @Nullable String kubeReserved;

    @Option(
            names = "--eviction-hard",
            paramLabel = "S<Q,...",
            description = "thresholds below which a pod is evicted at once, such as"
                    + " 'memory.available<200Mi,nodefs.available<5%%'")
    private @Nullable String evictionHard;

    @Option(
            names = "--eviction-soft",
            paramLabel = "S<Q,...",
            description = "thresholds below which a pod is evicted after a grace period")
    private @Nullable String evictionSoft;

    @Option(
            names = "--eviction-soft-grace-period",
            paramLabel = "S=D,...",
            description = "the grace period of each soft threshold, such as memory.available=1m30s")
    private @Nullable String evictionSoftGracePeriod;

    @Option(
            names = "--eviction-minimum-reclaim",
            paramLabel = "S=Q,...",
            description =
                    "what must be available above a threshold before evictions end, such as memory.available=100Mi")
    private @Nullable String evictionMinimumReclaim;

    @Option(
            names = "--eviction-max-pod-grace-period",
            paramLabel = "SECONDS",
            description = "the longest grace period of a pod evicted for a soft threshold; negative: the pod's own"
                    + " (default: 0)")
    private @Nullable Integer evictionMaxPodGracePeriod;

    @Option(
            names = "--eviction-pressure-transition-period",
            paramLabel = "DURATION",
            description = "how long the node reports pressure after it was last seen (default: 5m)")
    private @Nullable Duration evictionPressureTransitionPeriod;

    @Option(
            names = "--local-storage-capacity-isolation",
            arity = "0..1",
            fallbackValue = "true",
            paramLabel = "BOOL",
            description = "whether a pod is evicted that exceeds a limit of its ephemeral storage (default: true)")
    private @Nullable Boolean localStorageCapacityIsolation;

    @Option(
            names = "--enforce-node-allocatable",
            paramLabel = "NAME,...",
            description =
                    "pods, if the hard threshold of memory counts for the memory of all pods too; else none (default:"
                            + " pods)")
    private @Nullable String enforceNodeAllocatable;

    @Option(
            names = "--address",
            paramLabel = "IP",
            description = "the address of the HTTPS endpoint (default: 0.0.0.0)")
    private @Nullable String address;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "the port of the HTTPS endpoint (default: 10250, or any free port if that is in use)")
    private @Nullable Integer port;

    @Option(
            names = "--healthz-bind-address",
            paramLabel = "IP",
            description =
                    "the address of the health port; at a loopback address, it also has /metrics, /configz, /statusz,"
                            + " /flagz and /debug/objects (default: 127.0.0.1)")
    private @Nullable String healthzBindAddress;

    @Option(
            names = "--healthz-port",
            paramLabel = "PORT",
            description = "the port of /livez, /readyz and /healthz without TLS; 0 for none (default: 10248)")
    private @Nullable Integer healthzPort;

    @Option(
            names = "--tls-cert-file",
            paramLabel = "FILE",
            description = "the certificate of the HTTPS endpoint (default: self-signed)")
    private @Nullable String tlsCertFile;

    @Option(names = "--tls-private-key-file", paramLabel = "FILE", description = "the private key of this certificate")
    private @Nullable String tlsPrivateKeyFile;

    @Option(
            names = "--client-ca-file",
            paramLabel = "FILE",
            description = "the authority of the endpoint's clients; without it, kubectl logs and exec are refused")
    private @Nullable String clientCaFile;

    @Option(
            names = "--pod-manifest-path",
            paramLabel = "PATH",
            description = "a folder with manifests of static pods, or one manifest")
    private @Nullable String podManifestPath;

    @Option(
            names = "--file-check-frequency",
            paramLabel = "DURATION",
            description = "how often these manifests are read (default: 20s)")
    private @Nullable Duration fileCheckFrequency;

    @Option(
            names = "--rotate-certificates",
            arity = "0..1",
            fallbackValue = "true",
            paramLabel = "BOOL",
            description =
                    "whether to request another client certificate before the one in use expires (default: false)")
    private @Nullable Boolean rotateCertificates;

    /** Returns the file to read, or null if the flag is not set. */
    @Nullable
    Path config() {
        return config;
    }

    /** Returns the folder to read, or null if the flag is not set. */
    @Nullable
    Path configDir() {
        return configDir;
    }

    /**
     * Returns the values of the flags, by the names of their fields.
     *
     * @param strategy of the flag {@code --strategy}, or null
     * @throws IllegalSettingException if a map is malformed
     */
    Settings settings(@Nullable ChangeDetectionStrategy strategy) {
        Map<String, Setting> given = new LinkedHashMap<>();
        put(given, "syncFrequency", "--sync-frequency", syncFrequency);
        put(given, "nodeStatusUpdateFrequency", "--node-status-update-frequency", nodeStatusUpdateFrequency);
        put(given, "nodeStatusReportFrequency", "--node-status-report-frequency", nodeStatusReportFrequency);
        put(given, "nodeLeaseDurationSeconds", "--node-lease-duration-seconds", number(nodeLeaseDurationSeconds));
        put(given, "kubeAPIQPS", "--kube-api-qps", number(kubeApiQps));
        put(given, "kubeAPIBurst", "--kube-api-burst", number(kubeApiBurst));
        put(given, "registerNode", "--register-node", registerNode);
        put(given, "nodeLabels", "--node-labels", nodeLabels);
        put(given, "registerWithTaints", "--register-with-taints", taints);
        put(given, "nodeIP", "--node-ip", nodeIp);
        put(given, "clusterDomain", "--cluster-domain", clusterDomain);
        put(given, "maxPods", "--max-pods", number(maxPods));
        put(given, "systemReserved", "--system-reserved", map("--system-reserved", systemReserved, '='));
        put(given, "kubeReserved", "--kube-reserved", map("--kube-reserved", kubeReserved, '='));
        put(given, "address", "--address", address);
        put(given, "port", "--port", number(port));
        put(given, "healthzBindAddress", "--healthz-bind-address", healthzBindAddress);
        put(given, "healthzPort", "--healthz-port", number(healthzPort));
        put(given, "tlsCertFile", "--tls-cert-file", tlsCertFile);
        put(given, "tlsPrivateKeyFile", "--tls-private-key-file", tlsPrivateKeyFile);
        put(given, "clientCAFile", "--client-ca-file", clientCaFile);
        put(given, "staticPodPath", "--pod-manifest-path", podManifestPath);
        put(given, "fileCheckFrequency", "--file-check-frequency", fileCheckFrequency);
        put(given, KubeletSettings.ROTATE, "--rotate-certificates", rotateCertificates);
        putEviction(given);
        put(given, KubeletSettings.STRATEGY, "--strategy", strategy);
        return new Settings(given);
    }

    private void putEviction(Map<String, Setting> given) {
        put(given, "evictionHard", "--eviction-hard", map("--eviction-hard", evictionHard, '<'));
        put(given, "evictionSoft", "--eviction-soft", map("--eviction-soft", evictionSoft, '<'));
        String gracePeriods = "--eviction-soft-grace-period";
        put(given, "evictionSoftGracePeriod", gracePeriods, map(gracePeriods, evictionSoftGracePeriod, '='));
        String reclaim = "--eviction-minimum-reclaim";
        put(given, "evictionMinimumReclaim", reclaim, map(reclaim, evictionMinimumReclaim, '='));
        put(given, "evictionMaxPodGracePeriod", "--eviction-max-pod-grace-period", number(evictionMaxPodGracePeriod));
        put(
                given,
                "evictionPressureTransitionPeriod",
                "--eviction-pressure-transition-period",
                evictionPressureTransitionPeriod);
        put(
                given,
                "localStorageCapacityIsolation",
                "--local-storage-capacity-isolation",
                localStorageCapacityIsolation);
        put(
                given,
                "enforceNodeAllocatable",
                "--enforce-node-allocatable",
                enforceNodeAllocatable == null
                        ? null
                        : Splitter.on(',').omitEmptyStrings().splitToList(enforceNodeAllocatable));
    }

    private static void put(Map<String, Setting> given, String field, String flag, @Nullable Object value) {
        if (value != null) {
            given.put(field, Setting.ofFlag(flag, value));
        }
    }

    private static @Nullable BigDecimal number(@Nullable Integer value) {
        return value == null ? null : BigDecimal.valueOf(value);
    }

    private static @Nullable Map<String, String> map(String flag, @Nullable String text, char separator) {
        if (text == null) {
            return null;
        }
        ImmutableMap.Builder<String, String> map = ImmutableMap.builder();
        for (String pair : Splitter.on(',').omitEmptyStrings().trimResults().split(text)) {
            int at = pair.indexOf(separator);
            if (at < 0) {
                throw Setting.ofFlag(flag, text).refused(pair, "written as NAME" + separator + "VALUE");
            }
            map.put(pair.substring(0, at), pair.substring(at + 1));
        }
        return map.buildKeepingLast();
    }
}
