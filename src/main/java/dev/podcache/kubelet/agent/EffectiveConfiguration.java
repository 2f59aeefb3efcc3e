package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.agent.KubeletConfiguration.Endpoint;
import dev.podcache.time.Durations;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The configuration of an agent as {@code /configz} shows it: the fields of a KubeletConfiguration that take effect, with
 * the values in effect, and those of a PodcacheConfiguration. Names files, but never shows their contents.
 */
final class EffectiveConfiguration {

    private EffectiveConfiguration() {}

    static Map<String, Object> of(KubeletConfiguration options) {
        Map<String, Object> kubelet = new LinkedHashMap<>();
        kubelet.put("kind", "KubeletConfiguration");
        kubelet.put("apiVersion", "kubelet.config.k8s.io/v1beta1");
        putEndpoint(kubelet, options);
        putTimes(kubelet, options);
        putNode(kubelet, options);
        kubelet.putAll(options.eviction().fields());
        Map<String, Object> podcache = new LinkedHashMap<>();
        podcache.put("kind", "PodcacheConfiguration");
        podcache.put("apiVersion", "podcache.dev/v1alpha1");
        podcache.put("readTimeout", Durations.text(options.caching().readTimeout()));
        podcache.put("firstSyncTimeout", Durations.text(options.caching().firstSyncTimeout()));
        podcache.put("backgroundRefresh", Durations.text(options.caching().backgroundRefresh()));
        long budget = options.caching().payloadBudget();
        if (budget != Long.MAX_VALUE) {
            podcache.put("payloadBudget", Long.toString(budget));
        }
        return ImmutableMap.of("kubeletconfig", kubelet, "podcacheconfig", podcache);
    }

    private static void putEndpoint(Map<String, Object> fields, KubeletConfiguration options) {
        Endpoint endpoint = options.endpoint();
        fields.put("enableServer", endpoint.enabled());
        if (endpoint.enabled()) {
            fields.put("address", endpoint.address());
            fields.put("port", endpoint.port());
            fields.put("tlsCertFile", endpoint.certificate());
            fields.put("tlsPrivateKeyFile", endpoint.key());
            fields.put("authentication", Map.of("x509", Map.of("clientCAFile", endpoint.clientAuthority())));
        }
        fields.put("healthzBindAddress", options.health().address());
        fields.put("healthzPort", options.health().port());
        options.staticPods().ifPresent(files -> {
            fields.put("staticPodPath", files.path().toString());
            fields.put("fileCheckFrequency", Durations.text(files.checkFrequency()));
        });
    }

    private static void putTimes(Map<String, Object> fields, KubeletConfiguration options) {
        String strategy = options.caching().strategy().name();
        fields.put(
                "configMapAndSecretChangeDetectionStrategy",
                strategy.charAt(0) + strategy.substring(1).toLowerCase(Locale.ROOT));
        fields.put("syncFrequency", Durations.text(options.caching().syncFrequency()));
        fields.put(
                "nodeStatusUpdateFrequency", Durations.text(options.heartbeats().statusUpdate()));
        fields.put(
                "nodeStatusReportFrequency", Durations.text(options.heartbeats().statusReport()));
        fields.put("nodeLeaseDurationSeconds", options.heartbeats().leaseSeconds());
        fields.put(
                "crashLoopBackOff",
                ImmutableMap.of(
                        "maxContainerRestartPeriod",
                        Durations.text(options.restarts().longest())));
        fields.put("kubeAPIQPS", (long) options.rates().perSecond());
        fields.put("kubeAPIBurst", options.rates().burst());
    }

    private static void putNode(Map<String, Object> fields, KubeletConfiguration options) {
        fields.put("registerNode", options.registration().register());
        fields.put(
                "registerWithTaints",
                options.registration().taints().stream()
                        .map(taint -> ImmutableMap.of(
                                "key", taint.getKey(),
                                "value", taint.getValue() == null ? "" : taint.getValue(),
                                "effect", taint.getEffect()))
                        .collect(Collectors.toList()));
        fields.put("providerID", options.registration().providerId());
        fields.put("clusterDomain", options.clusterDomain());
        fields.put("maxPods", options.reservations().maxPods());
        fields.put("podsPerCore", options.reservations().podsPerCore());
        fields.putAll(options.reservations().reserved().fields());
    }
}
