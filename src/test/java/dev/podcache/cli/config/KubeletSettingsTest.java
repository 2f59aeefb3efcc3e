package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What files and flags come to; see {@link ConfigurationFileTest} for what is no configuration at all. */
class KubeletSettingsTest {

    private static final String HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    @TempDir
    private Path directory = Path.of("");

    @Command(name = "test")
    private static final class WithFlags {
        @Mixin
        private KubeletFlags flags = new KubeletFlags();
    }

    @Test
    void of_nothingWritten_isTheKubeletsDefaults() {
        KubeletConfiguration defaults = KubeletSettings.configuration(Settings.NONE, Settings.NONE);

        assertThat(defaults)
                .usingRecursiveComparison()
                .isEqualTo(new KubeletConfiguration(
                        ObjectCaching.usual(ChangeDetectionStrategy.WATCH, Duration.ofMinutes(1)),
                        new KubeletConfiguration.HeartbeatTimes(Duration.ofSeconds(10), Duration.ofMinutes(5), 40),
                        new RequestLimit(50, 100),
                        "cluster.local",
                        new KubeletConfiguration.NodeRegistrationOptions(
                                true, ImmutableMap.of(), ImmutableList.of(), "", NodeIps.NONE),
                        new KubeletConfiguration.Reservations(110, 0, NodeReservations.none()),
                        EvictionOptions.defaults(),
                        new KubeletConfiguration.Endpoint(true, "0.0.0.0", 10_250, "", "", ""),
                        Optional.empty(),
                        new KubeletConfiguration.HealthPort("127.0.0.1", 10_248),
                        new KubeletConfiguration.CrashLoopBackOff(Duration.ofSeconds(300))));
    }

    @Test
    void of_everythingInTheFile_isTaken() throws IOException {
        KubeletConfiguration all = file(HEAD + """
                configMapAndSecretChangeDetectionStrategy: Cache
                healthzPort: 0
                healthzBindAddress: ::1
                syncFrequency: 1m30s
                nodeStatusUpdateFrequency: 4s
                nodeStatusReportFrequency: 1m
                nodeLeaseDurationSeconds: 20
                kubeAPIQPS: 5
                kubeAPIBurst: 10
                registerNode: false
                registerWithTaints: [{key: a/b, value: c, effect: NoExecute}, {key: d, effect: NoSchedule}]
                providerID: aws:///eu/i-1
                enableServer: false
                address: 127.0.0.1
                tlsCertFile: /tls.crt
                tlsPrivateKeyFile: /tls.key
                authentication: {x509: {clientCAFile: /ca.crt}, anonymous: {enabled: false}}
                clusterDomain: corp.example
                maxPods: 5
                podsPerCore: 2
                systemReserved: {cpu: 200m, pid: "1000"}
                kubeReserved: {memory: 1Gi, ephemeral-storage: 2G}
                evictionHard: {memory.available: 1Gi, imagefs.available: 10.5%}
                evictionSoft: {memory.available: 2Gi, pid.available: 5%}
                evictionSoftGracePeriod: {memory.available: 1m30s, pid.available: "0"}
                evictionMinimumReclaim: {memory.available: 100Mi, nodefs.available: 1%}
                evictionMaxPodGracePeriod: 60
                evictionPressureTransitionPeriod: 30s
                localStorageCapacityIsolation: false
                enforceNodeAllocatable: [none]
                port: 1
                staticPodPath: /etc/kubernetes/manifests
                fileCheckFrequency: 5s
                crashLoopBackOff: {maxContainerRestartPeriod: 1s}
                ---
                apiVersion: podcache.dev/v1alpha1
                kind: PodcacheConfiguration
                readTimeout: 3s
                firstSyncTimeout: 250ms
                payloadBudget: 64Mi
                backgroundRefresh: 45s
                """);

        assertThat(all)
                .usingRecursiveComparison()
                .isEqualTo(new KubeletConfiguration(
                        new ObjectCaching(
                                ChangeDetectionStrategy.CACHE,
                                Duration.ofSeconds(90),
                                Duration.ofSeconds(3),
                                Duration.ofMillis(250),
                                64 << 20,
                                Duration.ofSeconds(45)),
                        new KubeletConfiguration.HeartbeatTimes(Duration.ofSeconds(4), Duration.ofMinutes(1), 20),
                        new RequestLimit(5, 10),
                        "corp.example",
                        new KubeletConfiguration.NodeRegistrationOptions(
                                false,
                                ImmutableMap.of(),
                                ImmutableList.of(
                                        new TaintBuilder()
                                                .withKey("a/b")
                                                .withValue("c")
                                                .withEffect("NoExecute")
                                                .build(),
                                        new TaintBuilder()
                                                .withKey("d")
                                                .withEffect("NoSchedule")
                                                .build()),
                                "aws:///eu/i-1",
                                NodeIps.NONE),
                        new KubeletConfiguration.Reservations(
                                5,
                                2,
                                NodeReservations.none()
                                        .withSystemReserved(ImmutableMap.of("cpu", "200m", "pid", "1000"))
                                        .withKubeReserved(ImmutableMap.of("memory", "1Gi", "ephemeral-storage", "2G"))),
                        EvictionOptions.defaults()
                                .withHard(thresholds("memory.available", "1Gi", "imagefs.available", "10.5%"))
                                .withSoft(
                                        thresholds("memory.available", "2Gi", "pid.available", "5%"),
                                        ImmutableMap.of(
                                                "memory.available",
                                                Duration.ofSeconds(90),
                                                "pid.available",
                                                Duration.ZERO))
                                .withMinimumReclaim(
                                        ImmutableMap.of("memory.available", "100Mi", "nodefs.available", "1%"))
                                .withMaxPodGracePeriod(Duration.ofMinutes(1))
                                .withPressureTransition(Duration.ofSeconds(30))
                                .withLocalStorageLimits(false)
                                .withEnforceNodeAllocatable(List.of("none")),
                        new KubeletConfiguration.Endpoint(false, "127.0.0.1", 1, "/tls.crt", "/tls.key", "/ca.crt"),
                        Optional.of(new StaticPodFiles(Path.of("/etc/kubernetes/manifests"), Duration.ofSeconds(5))),
                        new KubeletConfiguration.HealthPort("::1", 0),
                        new KubeletConfiguration.CrashLoopBackOff(Duration.ofSeconds(1))));
    }

    @Test
    void of_everyFlag_winsOverTheFile() throws IOException {
        KubeletConfiguration all = with(
                HEAD + """
                        syncFrequency: 2m
                        nodeStatusUpdateFrequency: 1h
                        kubeAPIQPS: 1
                        kubeAPIBurst: 1
                        registerNode: true
                        registerWithTaints: [{key: file, effect: NoSchedule}]
                        maxPods: 1
                        systemReserved: {cpu: "1"}
                        kubeReserved: {cpu: "1"}
                        evictionHard: {memory.available: 1Gi, nodefs.available: 1%}
                        mergeDefaultEvictionSettings: true
                        """,
                "--sync-frequency=15s",
                "--node-status-update-frequency=5s",
                "--kube-api-qps=20",
                "--kube-api-burst=30",
                "--register-node=false",
                "--node-labels=zone=a,topology.kubernetes.io/zone=b,empty=",
                "--register-with-taints=dedicated=gpu:NoSchedule,spot:NoExecute",
                "--node-ip=10.0.0.7,fd00::7",
                "--max-pods=0",
                "--system-reserved=cpu=200m,memory=1Gi",
                "--kube-reserved=",
                "--eviction-hard=memory.available<5%",
                "--eviction-soft=memory.available<10%",
                "--eviction-soft-grace-period=memory.available=2m",
                "--eviction-minimum-reclaim=memory.available=0",
                "--eviction-max-pod-grace-period=-1",
                "--eviction-pressure-transition-period=1m",
                "--enforce-node-allocatable=pods,system-reserved",
                "--local-storage-capacity-isolation=false");

        assertThat(all.caching().syncFrequency()).isEqualTo(Duration.ofSeconds(15));
        assertThat(all.heartbeats().statusUpdate()).isEqualTo(Duration.ofSeconds(5));
        assertThat(all.rates().perSecond()).isEqualTo(20);
        assertThat(all.rates().burst()).isEqualTo(30);
        assertThat(all.registration().register()).isFalse();
        assertThat(all.registration().labels())
                .isEqualTo(ImmutableMap.of("zone", "a", "topology.kubernetes.io/zone", "b", "empty", ""));
        assertThat(all.registration().taints())
                .containsExactly(
                        new TaintBuilder()
                                .withKey("dedicated")
                                .withValue("gpu")
                                .withEffect("NoSchedule")
                                .build(),
                        new TaintBuilder()
                                .withKey("spot")
                                .withEffect("NoExecute")
                                .build());
        assertThat(all.registration().addresses()).isEqualTo(NodeIps.parse("10.0.0.7,fd00::7"));
        assertThat(all.reservations().maxPods()).isZero();
        assertThat(all.reservations().reserved())
                .usingRecursiveComparison()
                .isEqualTo(NodeReservations.none().withSystemReserved(ImmutableMap.of("cpu", "200m", "memory", "1Gi")));
        assertThat(all.eviction())
                .isEqualTo(EvictionOptions.defaults()
                        .withHard(thresholds("memory.available", "5%"))
                        .withSoft(
                                thresholds("memory.available", "10%"),
                                ImmutableMap.of("memory.available", Duration.ofMinutes(2)))
                        .withMinimumReclaim(ImmutableMap.of("memory.available", "0"))
                        .withMaxPodGracePeriod(Duration.ofSeconds(-1))
                        .withPressureTransition(Duration.ofMinutes(1))
                        .withLocalStorageLimits(false)
                        .withEnforceNodeAllocatable(List.of("pods", "system-reserved")));
    }

    @Test
    void registerNode_flagWithoutValue_isTrue() throws IOException {
        assertThat(with(HEAD + "registerNode: false\n", "--register-node")
                        .registration()
                        .register())
                .isTrue();
    }

    @Test
    void nodeStatusReportFrequency_onlyTheUpdateIsSetInTheFile_isTheSame() throws IOException {
        assertThat(file(HEAD + "nodeStatusUpdateFrequency: 20s\n").heartbeats().statusReport())
                .isEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void nodeStatusReportFrequency_onlyTheUpdateIsSetByFlag_isFiveMinutes() throws IOException {
        assertThat(with(HEAD, "--node-status-update-frequency=20s").heartbeats().statusReport())
                .isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void heartbeats_flags_overrideTheFile() throws IOException {
        KubeletConfiguration.HeartbeatTimes heartbeats = with(
                        HEAD
                                + "nodeStatusUpdateFrequency: 20s\nnodeStatusReportFrequency: 1m\nnodeLeaseDurationSeconds: 30\n",
                        "--node-status-report-frequency=2m",
                        "--node-lease-duration-seconds=16")
                .heartbeats();

        assertThat(heartbeats)
                .isEqualTo(new KubeletConfiguration.HeartbeatTimes(Duration.ofSeconds(20), Duration.ofMinutes(2), 16));
    }

    @Test
    void evictionHard_mergedWithTheDefaults_winsSignalBySignal() throws IOException {
        KubeletConfiguration merged =
                file(HEAD + "mergeDefaultEvictionSettings: true\nevictionHard: {memory.available: 1Gi}\n");

        assertThat(merged.eviction().hard())
                .isEqualTo(thresholds("memory.available", "1Gi").mergedWithDefaults());
    }

    @Test
    void evictionHard_emptyMap_isNoThreshold() throws IOException {
        assertThat(file(HEAD + "evictionHard: {}\n").eviction().hard()).isEqualTo(thresholds());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "configMapAndSecretChangeDetectionStrategy: watch | is \"watch\": it must be Get, Cache or Watch",
                "configMapAndSecretChangeDetectionStrategy: [Get] | is a list: it must be Get, Cache or Watch",
                "syncFrequency: 10 | is 10: it must be a positive duration with a unit",
                "syncFrequency: '10' | is \"10\": it must be a positive duration with a unit",
                "syncFrequency: soon | is \"soon\": it must be a positive duration with a unit",
                "nodeStatusUpdateFrequency: -5s | is \"-5s\": it must be a positive duration with a unit",
                "nodeStatusReportFrequency: 9999999h | is \"9999999h\": it must be a positive duration",
                "evictionPressureTransitionPeriod: {} | is a map: it must be a positive duration",
                "nodeLeaseDurationSeconds: -1 | is -1: it must be a whole number from 1 to 2147483647",
                "nodeLeaseDurationSeconds: 40s | is \"40s\": it must be a whole number",
                "kubeAPIQPS: 0 | is 0: it must be a whole number from 1 to 2147483647",
                "kubeAPIQPS: '50' | is \"50\": it must be a whole number from 1 to 2147483647, without quotes",
                "kubeAPIBurst: 1.5 | is 1.5: it must be a whole number",
                "maxPods: 99999999999 | is 99999999999: it must be a whole number from 0 to 2147483647",
                "maxPods: 1e999999999 | it must be a whole number from 0 to 2147483647",
                "crashLoopBackOff: 5m | crashLoopBackOff is \"5m\": it must be a map, such as {maxContainerRestartPeriod: 5m0s}",
                "crashLoopBackOff: {maxContainerRestartPeriods: 5m} | crashLoopBackOff has \"maxContainerRestartPeriods\": it must be maxContainerRestartPeriod",
                "crashLoopBackOff: {maxContainerRestartPeriod: 60} | crashLoopBackOff.maxContainerRestartPeriod is 60: it must be a positive duration",
                "crashLoopBackOff: {maxContainerRestartPeriod: 0s} | crashLoopBackOff.maxContainerRestartPeriod is \"0s\": it must be a positive duration",
                "crashLoopBackOff: {maxContainerRestartPeriod: 999ms} | crashLoopBackOff: maxContainerRestartPeriod must be from 1s to 5m0s, but is 999ms",
                "crashLoopBackOff: {maxContainerRestartPeriod: 301s} | crashLoopBackOff: maxContainerRestartPeriod must be from 1s to 5m0s, but is 5m1s",
                "authentication: yes | authentication is true: it must be a map with x509 or webhook or anonymous",
                "authentication: {x509s: {}} | authentication has \"x509s\": it must be x509 or webhook or anonymous",
                "authentication: {x509: /ca.crt} | authentication.x509 is \"/ca.crt\": it must be a map with clientCAFile",
                "authentication: {x509: {clientCaFile: /ca.crt}} | authentication.x509 has \"clientCaFile\": it must be clientCAFile",
                "authentication: {x509: {clientCAFile: [/ca.crt]}} | authentication.x509.clientCAFile is a list: it must be text",
                "authentication: {webhook: {enabled: 'false'}} | authentication.webhook.enabled is \"false\": it must be true or false",
                "authentication: {webhook: {cacheTTL: 5}} | authentication.webhook.cacheTTL is 5: it must be text",
                "authentication: {anonymous: {enabled: 0}} | authentication.anonymous.enabled is 0: it must be true or false",
                "maxPods: -1 | is -1: it must be a whole number from 0",
                "maxPods: true | is true: it must be a whole number",
                "clusterDomain: Corp_1 | clusterDomain \"Corp_1\" is no DNS name: use lower-case letters",
                "clusterDomain: 5 | is 5: it must be text: put it in quotes",
                "podsPerCore: -1 | is -1: it must be a whole number from 0",
                "port: 65536 | is 65536: it must be a whole number from 1 to 65535",
                "registerNode: 'yes' | is \"yes\": it must be true or false",
                "registerNode: 1 | is 1: it must be true or false",
                "providerID: 5 | is 5: it must be text: put it in quotes",
                "systemReserved: 1Gi | is \"1Gi\": it must be a map",
                "systemReserved: {cpu: 1} | has 1: it must be text: put the value of cpu in quotes",
                "systemReserved: {cpus: 1m} | resource \"cpus\" cannot be reserved; use one of cpu, memory",
                "kubeReserved: {memory: 1Gx} | \"1Gx\" is not a quantity for memory: write a number",
                "kubeReserved: {memory: -1Gi} | reservation of memory must not be negative, but is -1Gi",
                "evictionHard: {memory: 1Gi} | unsupported eviction signal \"memory\": use one of memory.available",
                "evictionHard: {memory.available: 101%} | must be at least 0% and at most 100%, but is 101%",
                "evictionHard: {memory.available: -1%} | must be at least 0% and at most 100%, but is -1%",
                "evictionHard: {memory.available: lots} | \"lots\" is not a quantity for the eviction threshold memory.available: write a number",
                "evictionSoft: {memory.available: 1Gi} | grace period must be specified for the soft eviction threshold memory.available: add it to evictionSoftGracePeriod",
                "evictionSoftGracePeriod: {memory.available: -1m} | invalid eviction grace period specified: -1m of memory.available, must be a positive value",
                "evictionMinimumReclaim: {memory.available: -1Gi} | negative eviction minimum reclaim specified for memory.available: -1Gi; use 0 or more",
                "evictionMinimumReclaim: {memory.available: 0%} | eviction percentage minimum reclaim memory.available must be positive, but is 0%",
                "evictionMinimumReclaim: {memory: 1Gi} | unsupported eviction signal \"memory\": use one of memory.available",
                "evictionMaxPodGracePeriod: x | is \"x\": it must be a whole number",
                "mergeDefaultEvictionSettings: x | is \"x\": it must be true or false",
                "registerWithTaints: a=b:NoSchedule | is \"a=b:NoSchedule\": it must be a list",
                "registerWithTaints: [x] | has \"x\": it must be a taint",
                "registerWithTaints: [{key: a b, effect: NoSchedule}] | taint key \"a b\" is not legal: ",
                "registerWithTaints: [{key: a, value: b c, effect: NoSchedule}] | value of taint a \"b c\" is not legal: ",
                "registerWithTaints: [{key: a}] | effect \"\" of taint a does not exist; use one of [NoSchedule, PreferNoSchedule, NoExecute]",
                "registerWithTaints: [{key: a, value: 1, effect: NoExecute}] | has 1: it must be text: put it in quotes",
                "registerWithTaints: [{key: a, effect: NoExecute, timeAdded: x}] | has \"timeAdded\": it must be key, value",
                "registerWithTaints: [{key: a, effect: NoExecute}, {key: a, value: b, effect: NoExecute}] | taint a with effect NoExecute occurs twice"
            })
    void of_wrongValue_isRefusedWithPlaceValueAndWhatIsAllowed(String line, String why) {
        String field = line.substring(0, line.indexOf(':'));

        assertThatThrownBy(() -> file(HEAD + line + "\n"))
                .isInstanceOfSatisfying(
                        IllegalSettingException.class,
                        e -> assertThat(e.ofFlag()).isFalse())
                .hasMessageStartingWith("configuration " + directory.resolve("kubelet.yaml") + " line 3: " + field)
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @CsvSource({
        "payloadBudget: 0, a positive number of bytes",
        "payloadBudget: -1Mi, a positive number of bytes",
        "payloadBudget: 9Ei9, a positive number of bytes",
        "payloadBudget: 1000E, a positive number of bytes",
        "payloadBudget: [], a positive number of bytes",
        "readTimeout: 0s, a positive duration",
        "firstSyncTimeout: -1s, a positive duration",
        "backgroundRefresh: 0s, a positive duration"
    })
    void of_wrongValueOfOurOwnDocument_isRefused(String line, String why) {
        assertThatThrownBy(() -> file("apiVersion: podcache.dev/v1alpha1\nkind: PodcacheConfiguration\n" + line + "\n"))
                .isInstanceOf(IllegalSettingException.class)
                .hasMessageContaining("line 3: ")
                .hasMessageContaining("it must be " + why);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--max-pods=-1 | --max-pods is -1: it must be a whole number from 0",
                "--kube-api-qps=0 | --kube-api-qps is 0: it must be a whole number from 1",
                "--kube-api-burst=-5 | --kube-api-burst is -5: it must be a whole number from 1",
                "--node-ip=localhost | --node-ip: node IP \"localhost\" has \"localhost\", which is not an address: give one, or",
                "--node-ip=1.1.1.1,2.2.2.2,3.3.3.3 | --node-ip: node IP \"1.1.1.1,2.2.2.2,3.3.3.3\" has more than two",
                "--node-labels=a/b/c=d | --node-labels: label key \"a/b/c\" is not legal: ",
                "--node-labels=a=b! | --node-labels: value of label a \"b!\" is not legal: ",
                "--node-labels=kubernetes.io/role=x | --node-labels: a node may not set the labels [kubernetes.io/role] on itself: ",
                "--system-reserved=cpu | --system-reserved has \"cpu\": it must be written as NAME=VALUE",
                "--system-reserved=cpu=lots | --system-reserved: \"lots\" is not a quantity for cpu: ",
                "--eviction-hard=memory.available=1Gi | it must be written as NAME<VALUE",
                "--register-with-taints=a=b | --register-with-taints: taint \"a=b\" does not have the form key=value:effect",
                "--register-with-taints=a=b:Never | --register-with-taints: effect \"Never\" of taint a does not exist"
            })
    void of_wrongFlag_isRefusedAsAFlag(String flag, String why) {
        assertThatThrownBy(() -> with(HEAD, flag))
                .isInstanceOfSatisfying(
                        IllegalSettingException.class,
                        e -> assertThat(e.ofFlag()).isTrue())
                .hasMessageContaining(why);
    }

    @Test
    void deploy_sampleFile_isAConfiguration() {
        ConfigurationFile sample = ConfigurationFile.read(Path.of("deploy/examples/kubelet-config.yaml"));

        KubeletConfiguration configuration = KubeletSettings.configuration(sample.settings(), Settings.NONE);

        assertThat(sample.ignored()).isEmpty();
        assertThat(configuration.eviction().hard())
                .isEqualTo(thresholds("memory.available", "200Mi", "nodefs.available", "10%")
                        .mergedWithDefaults());
        assertThat(configuration.caching().payloadBudget()).isEqualTo(64 << 20);
        assertThat(configuration.registration().taints()).hasSize(1);
    }

    private static EvictionThresholds thresholds(String... signalsAndValues) {
        ImmutableMap.Builder<String, String> thresholds = ImmutableMap.builder();
        for (int i = 0; i < signalsAndValues.length; i += 2) {
            thresholds.put(signalsAndValues[i], signalsAndValues[i + 1]);
        }
        return EvictionThresholds.parse(thresholds.buildOrThrow());
    }

    private KubeletConfiguration file(String text) throws IOException {
        return with(text);
    }

    private KubeletConfiguration with(String text, String... flags) throws IOException {
        Path file = Files.writeString(directory.resolve("kubelet.yaml"), text);
        WithFlags command = new WithFlags();
        CommandLine line = new CommandLine(command);
        line.registerConverter(Duration.class, new GoDuration());
        line.parseArgs(flags);
        return KubeletSettings.configuration(ConfigurationFile.read(file).settings(), command.flags.settings(null));
    }

    @Test
    void of_certificateWithoutKey_isRefused() {
        assertThatThrownBy(() -> file(HEAD + "tlsCertFile: /tls.crt\n"))
                .hasMessageContaining("tlsCertFile")
                .hasMessageContaining("set together with tlsPrivateKeyFile");
    }
}
