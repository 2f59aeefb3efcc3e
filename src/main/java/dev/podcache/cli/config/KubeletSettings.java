package dev.podcache.cli.config;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Range;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeLabels;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.server.ListenAddress;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Creates a {@link KubeletConfiguration} from settings, with the kubelet's defaults for unset fields. */
public final class KubeletSettings {

    /** The field of the strategy. */
    static final String STRATEGY = "configMapAndSecretChangeDetectionStrategy";

    /** The field that says whether the client certificate is rotated. */
    static final String ROTATE = "rotateCertificates";

    /** The field of how long restarts wait, which is a map. */
    static final String RESTARTS = "crashLoopBackOff";

    /** The only field of {@link #RESTARTS}. */
    static final String RESTART_PERIOD = "maxContainerRestartPeriod";

    /** The field of how clients of the endpoint are known, which is a map. */
    static final String AUTHENTICATION = "authentication";

    private static final KubeletConfiguration DEFAULT = KubeletConfiguration.DEFAULT;
    private static final Range<Integer> FROM_0 = Range.closed(0, Integer.MAX_VALUE);
    private static final Range<Integer> FROM_1 = Range.closed(1, Integer.MAX_VALUE);
    private static final Range<Integer> PORTS = Range.closed(1, 65_535);
    private static final Range<Integer> PORTS_OR_NONE = Range.closed(0, 65_535);

    private KubeletSettings() {}

    /**
     * Returns the complete configuration.
     *
     * @param flags override {@code file}; as in the kubelet, they do not change a default that depends on another field
     *     of the file
     * @throws IllegalSettingException if a value has the wrong type or is out of range
     */
    public static KubeletConfiguration configuration(Settings file, Settings flags) {
        Settings all = flags.orElse(file);
        return new KubeletConfiguration(
                caching(all),
                new KubeletConfiguration.HeartbeatTimes(
                        all.duration(
                                "nodeStatusUpdateFrequency",
                                DEFAULT.heartbeats().statusUpdate()),
                        // as in the kubelet: older files set only the update frequency, and mean both
                        all.duration(
                                "nodeStatusReportFrequency",
                                file.duration(
                                        "nodeStatusUpdateFrequency",
                                        DEFAULT.heartbeats().statusReport())),
                        all.integer(
                                "nodeLeaseDurationSeconds",
                                FROM_1,
                                DEFAULT.heartbeats().leaseSeconds())),
                new RequestLimit(
                        all.integer("kubeAPIQPS", FROM_1, (int) DEFAULT.rates().perSecond()),
                        all.integer("kubeAPIBurst", FROM_1, DEFAULT.rates().burst())),
                all.text("clusterDomain", KubeletConfiguration::legalDomain, DEFAULT.clusterDomain()),
                registration(all),
                new KubeletConfiguration.Reservations(
                        all.integer("maxPods", FROM_0, DEFAULT.reservations().maxPods()),
                        all.integer("podsPerCore", FROM_0, 0),
                        reserved(all)),
                EvictionSettings.of(all),
                endpoint(all),
                staticPods(all),
                new KubeletConfiguration.HealthPort(
                        all.text(
                                "healthzBindAddress",
                                text -> ListenAddress.address("healthzBindAddress", text),
                                DEFAULT.health().address()),
                        all.integer(
                                "healthzPort", PORTS_OR_NONE, DEFAULT.health().port())),
                restarts(all));
    }

    private static KubeletConfiguration.CrashLoopBackOff restarts(Settings all) {
        Duration longest =
                all.duration(RESTARTS, RESTART_PERIOD, DEFAULT.restarts().longest());
        Setting setting = all.find(RESTARTS);
        return setting == null
                ? DEFAULT.restarts()
                : setting.read(() -> new KubeletConfiguration.CrashLoopBackOff(longest));
    }

    /** Returns whether the client certificate is rotated. */
    static boolean rotatesCertificates(Settings all) {
        return all.bool(ROTATE, false);
    }

    private static Optional<StaticPodFiles> staticPods(Settings all) {
        String path = all.text("staticPodPath", "");
        Duration frequency = all.duration("fileCheckFrequency", StaticPodFiles.DEFAULT_FREQUENCY);
        return path.isEmpty()
                ? Optional.empty()
                : Optional.of(new StaticPodFiles(
                        all.text("staticPodPath", Path::of, Path.of("")).toAbsolutePath(), frequency));
    }

    private static KubeletConfiguration.Endpoint endpoint(Settings all) {
        KubeletConfiguration.Endpoint usual = DEFAULT.endpoint();
        String certificate = all.text("tlsCertFile", "");
        String key = all.text("tlsPrivateKeyFile", "");
        Setting half = all.find(certificate.isEmpty() ? "tlsPrivateKeyFile" : "tlsCertFile");
        if (half != null && certificate.isEmpty() != key.isEmpty()) {
            throw half.refused("set together with " + (key.isEmpty() ? "tlsPrivateKeyFile" : "tlsCertFile"));
        }
        return new KubeletConfiguration.Endpoint(
                all.bool("enableServer", usual.enabled()),
                all.text("address", text -> ListenAddress.address("address", text), usual.address()),
                all.integer("port", PORTS, usual.port()),
                certificate,
                key,
                all.text("clientCAFile", clientAuthority(all)));
    }

    /** Returns {@code authentication.x509.clientCAFile}. */
    private static String clientAuthority(Settings file) {
        Settings methods = file.part(AUTHENTICATION, "x509", "webhook", "anonymous");
        methods.part("anonymous", "enabled").bool("enabled", false);
        Settings webhook = methods.part("webhook", "enabled", "cacheTTL");
        webhook.bool("enabled", true);
        webhook.text("cacheTTL", "");
        return methods.part("x509", "clientCAFile").text("clientCAFile", "");
    }

    private static KubeletConfiguration.NodeRegistrationOptions registration(Settings all) {
        return new KubeletConfiguration.NodeRegistrationOptions(
                all.bool("registerNode", true),
                all.text("nodeLabels", labels -> ImmutableMap.copyOf(NodeLabels.parse(labels)), ImmutableMap.of()),
                TaintSettings.of(all),
                all.text("providerID", ""),
                all.text("nodeIP", NodeIps::parse, NodeIps.NONE));
    }

    private static NodeReservations reserved(Settings all) {
        NodeReservations none = NodeReservations.none();
        NodeReservations system = all.map("systemReserved", none::withSystemReserved, none);
        return all.map("kubeReserved", system::withKubeReserved, system);
    }

    private static ObjectCaching caching(Settings all) {
        return new ObjectCaching(
                strategy(all),
                all.duration("syncFrequency", DEFAULT.caching().syncFrequency()),
                all.duration("readTimeout", DEFAULT.caching().readTimeout()),
                all.duration("firstSyncTimeout", DEFAULT.caching().firstSyncTimeout()),
                payloadBudget(all),
                all.duration("backgroundRefresh", Duration.ZERO));
    }

    private static ChangeDetectionStrategy strategy(Settings all) {
        Setting setting = all.find(STRATEGY);
        if (setting == null) {
            return ChangeDetectionStrategy.WATCH;
        }
        if (setting.value() instanceof ChangeDetectionStrategy strategy) {
            return strategy;
        }
        List<ChangeDetectionStrategy> strategies = Arrays.asList(ChangeDetectionStrategy.values());
        return strategies.stream()
                .filter(strategy -> StrategyNames.of(strategy).equals(setting.value()))
                .findFirst()
                .orElseThrow(() -> setting.refused("Get, Cache or Watch"));
    }

    private static long payloadBudget(Settings all) {
        Setting setting = all.find("payloadBudget");
        if (setting == null) {
            return Long.MAX_VALUE;
        }
        try {
            BigDecimal bytes = Quantity.parse(setting.value().toString()).getNumericalAmount();
            if (bytes.signum() > 0) {
                return bytes.longValueExact();
            }
        } catch (IllegalArgumentException | ArithmeticException noQuantity) {
            // refused below
        }
        throw setting.refused("a positive number of bytes, such as 64Mi");
    }
}
