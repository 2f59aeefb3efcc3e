package dev.podcache.cli.config;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Pattern;

/** The kinds of document that a configuration file may contain, and their fields. */
enum ConfigurationKind {

    /** The kubelet's configuration, with its fields as of Kubernetes 1.36. */
    KUBELET("KubeletConfiguration", "kubelet.config.k8s.io/v1beta1", names("""
                    configMapAndSecretChangeDetectionStrategy syncFrequency nodeStatusUpdateFrequency
                    nodeStatusReportFrequency nodeLeaseDurationSeconds kubeAPIQPS kubeAPIBurst registerNode
                    registerWithTaints providerID clusterDomain maxPods podsPerCore systemReserved kubeReserved evictionHard
                    mergeDefaultEvictionSettings evictionPressureTransitionPeriod port address enableServer
                    tlsCertFile tlsPrivateKeyFile authentication staticPodPath fileCheckFrequency evictionSoft
                    evictionSoftGracePeriod rotateCertificates
                    evictionMaxPodGracePeriod evictionMinimumReclaim localStorageCapacityIsolation enforceNodeAllocatable
                    healthzPort healthzBindAddress crashLoopBackOff
                    """), names("""
                    podLogsDir httpCheckFrequency staticPodURL
                    staticPodURLHeader readOnlyPort tlsCipherSuites
                    tlsCurvePreferences tlsMinVersion serverTLSBootstrap authorization registryPullQPS registryBurst imagePullCredentialsVerificationPolicy
                    preloadedImagesVerificationAllowlist enableDebuggingHandlers enableContentionProfiling
                    oomScoreAdj clusterDNS streamingConnectionIdleTimeout imageMinimumGCAge
                    imageMaximumGCAge imageGCHighThresholdPercent imageGCLowThresholdPercent volumeStatsAggPeriod
                    kubeletCgroups systemCgroups cgroupRoot cgroupsPerQOS cgroupDriver cpuManagerPolicy
                    singleProcessOOMKill cpuManagerPolicyOptions cpuManagerReconcilePeriod draManagerReconcilePeriod
                    memoryManagerPolicy topologyManagerPolicy topologyManagerScope topologyManagerPolicyOptions
                    qosReserved runtimeRequestTimeout hairpinMode podCIDR podPidsLimit resolvConf runOnce cpuCFSQuota
                    cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles contentType serializeImagePulls
                    maxParallelImagePulls enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains
                    iptablesMasqueradeBit iptablesDropBit featureGates failSwapOn memorySwap containerLogMaxSize
                    containerLogMaxFiles containerLogMaxWorkers containerLogMonitorInterval reservedSystemCPUs
                    showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup
                    allowedUnsafeSysctls volumePluginDir kernelMemcgNotification logging enableSystemLogHandler
                    enableSystemLogQuery shutdownGracePeriod shutdownGracePeriodCriticalPods
                    shutdownGracePeriodByPodPriority reservedMemory enableProfilingHandler
                    enableDebugFlagsHandler seccompDefault memoryThrottlingFactor memoryReservationPolicy tracing
                    containerRuntimeEndpoint imageServiceEndpoint failCgroupV1
                    userNamespaces podHousekeepingPeriod eventRecordQPS eventBurst
                    """)),

    /** Podcache's configuration, for what the kubelet has no fields. */
    PODCACHE(
            "PodcacheConfiguration",
            "podcache.dev/v1alpha1",
            names("readTimeout firstSyncTimeout payloadBudget backgroundRefresh"),
            ImmutableSet.of());

    /** Fields for which the kubelet distinguishes zero from unset. For its other fields, zero means the default. */
    private static final ImmutableSet<String> ZERO_IS_A_VALUE = ImmutableSet.of("kubeAPIQPS", "healthzPort");

    private static final Pattern NO_TIME = Pattern.compile("[-+]?0|[-+]?(0+(\\.0*)?(ns|us|µs|ms|s|m|h))+");

    private final String kind;
    private final String apiVersion;
    private final ImmutableSet<String> honoured;
    private final ImmutableSet<String> ignored;

    ConfigurationKind(String kind, String apiVersion, ImmutableSet<String> honoured, ImmutableSet<String> ignored) {
        this.kind = kind;
        this.apiVersion = apiVersion;
        this.honoured = honoured;
        this.ignored = ignored;
    }

    /** Returns the kind with this name and version. */
    static Optional<ConfigurationKind> of(String apiVersion, String kind) {
        for (ConfigurationKind each : values()) {
            if (each.kind.equals(kind) && each.apiVersion.equals(apiVersion)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** Returns the fields that have an effect. */
    ImmutableSet<String> honoured() {
        return honoured;
    }

    /** Returns whether the field has an effect. */
    boolean honours(String field) {
        return honoured.contains(field);
    }

    /** Returns whether the field exists, but has no effect in an agent that runs no containers. */
    boolean ignores(String field) {
        return ignored.contains(field);
    }

    /** Returns the field with the most similar name. */
    String nearest(String misspelt) {
        return Spelling.nearest(misspelt, Sets.union(honoured, ignored));
    }

    /** Returns whether {@code value} means that the field is unset. */
    boolean isUnset(String field, Object value) {
        if (this == PODCACHE || ZERO_IS_A_VALUE.contains(field)) {
            return false;
        }
        return value instanceof BigDecimal number
                ? number.signum() == 0
                : value instanceof String text
                        && (text.isEmpty() || NO_TIME.matcher(text).matches());
    }

    @Override
    public String toString() {
        return "kind " + kind + " of apiVersion " + apiVersion;
    }

    private static ImmutableSet<String> names(String text) {
        return ImmutableSet.copyOf(
                Splitter.on(Pattern.compile("\\s+")).omitEmptyStrings().split(text));
    }
}
