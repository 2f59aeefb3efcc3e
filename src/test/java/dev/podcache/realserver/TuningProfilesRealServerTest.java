package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterReflectors;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleController;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.PlanFigure;
import dev.podcache.controlplane.planner.PlanSettings;
import dev.podcache.controlplane.planner.TuningProfile;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.FilteredListerWatcher;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.net.URI;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A frozen hollow node under each tuning profile, on one kube-apiserver: it is Unknown, and its pod is deleted, within the
 * bounds that the planner computes. All times of a profile are divided by one number. Each profile has a monitor of its
 * own, which sees the nodes of that profile only.
 */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@ExtendWith(NoLeaks.class)
class TuningProfilesRealServerTest {

    /** The shortest of a hollow node. */
    private static final Duration LEASE = Duration.ofSeconds(4);

    /** The machine may be busy. */
    private static final double SLACK = 4;

    /** Requests and watch events, which the planner counts as taking no time, and clocks of two threads. */
    private static final double EARLY = 0.1;

    private final RealApiServer real = RealApiServer.shared();

    /** A profile that runs faster. */
    private record ScaledProfile(TuningProfile profile, int faster) {

        Duration scaled(Duration time) {
            return time.dividedBy(faster);
        }

        /** Returns a figure of the plan, in the seconds of this test. */
        double planned(PlanFigure figure) {
            PlanSettings settings = PlanSettings.builder(2)
                    .profile(profile)
                    .leaseDuration(LEASE.multipliedBy(faster))
                    .build();
            return Plan.of(settings).value(figure) / faster;
        }

        String name(String what) {
            return "profile-" + profile.name() + "-" + what;
        }

        HollowTemplate template(String what) {
            return new HollowTemplate()
                    .prefix(name(what) + "-")
                    .leaseDuration(LEASE)
                    .statusReport(Duration.ofSeconds(10));
        }

        NodeLifecycleOptions options() {
            return NodeLifecycleOptions.DEFAULT
                    .monitorPeriod(scaled(profile.monitorPeriod()))
                    .monitorGracePeriod(scaled(profile.grace()));
        }

        Pod pod() {
            return new PodBuilder()
                    .withNewMetadata()
                    .withNamespace("default")
                    .withName(name("web"))
                    .endMetadata()
                    .withNewSpec()
                    .withNodeName(name("frozen") + "-0")
                    .withAutomountServiceAccountToken(false)
                    .withTerminationGracePeriodSeconds(1L)
                    .addNewContainer()
                    .withName("main")
                    .withImage("hollow")
                    .endContainer()
                    .addNewToleration()
                    .withKey("node.kubernetes.io/unreachable")
                    .withOperator("Exists")
                    .withEffect("NoExecute")
                    .withTolerationSeconds(scaled(profile.eviction()).toSeconds())
                    .endToleration()
                    .endSpec()
                    .build();
        }
    }

    /** The node lifecycle controller for the nodes of one profile. */
    private static final class OwnMonitor implements AutoCloseable {

        private final Fabric8ApiServer server;
        private final ControllerLoop loop;
        private final ClusterReflectors reflectors;

        OwnMonitor(KubernetesClient client, ScaledProfile profile) {
            server = Fabric8ApiServer.of(client);
            loop = new ControllerLoop(server.timekeeper());
            ClusterCache cache = new ClusterCache(loop);
            Duration timeout = Duration.ofSeconds(10);
            ClusterWrites writes =
                    ClusterWrites.to(server.api(ObjectKind.NODE, timeout), server.api(ObjectKind.POD, timeout));
            new NodeLifecycleController(cache, writes, (about, type, reason, message) -> {}, profile.options()).start();
            reflectors = new ClusterReflectors(
                    new ClusterReflectors.WatchedCollections(
                            own(profile, server.listerWatcher(ObjectKind.NODE, "", "")),
                            own(profile, server.listerWatcher(ObjectKind.LEASE, "kube-node-lease", "")),
                            own(profile, server.listerWatcher(ObjectKind.POD, "", "spec.nodeName!="))),
                    cache,
                    new Recovery(server.timekeeper()));
        }

        void start() {
            reflectors.start();
        }

        private static <T extends HasMetadata> ListerWatcher<T> own(ScaledProfile profile, ListerWatcher<T> all) {
            return new FilteredListerWatcher<>(all, name -> name.startsWith(profile.name("")));
        }

        @Override
        public void close() {
            loop.close();
            reflectors.close();
            server.close();
        }
    }

    @Test
    void frozenNode_ofEachProfile_isNoticedAndEvictedWithinThePlan_andIsReadyAfterItThaws(NoLeaks leaks) {
        // the agents of the frozen nodes say that they cannot renew their Leases
        leaks.allowWarnings("-frozen-0 ");
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings(" did not answer a ping for ");
        CompletableFuture.allOf(
                        running(TuningProfile.DEFAULT, 12),
                        running(TuningProfile.FAST, 5),
                        running(TuningProfile.MEDIUM, 10),
                        running(TuningProfile.LOW, 20))
                .join();
    }

    private CompletableFuture<Void> running(TuningProfile profile, int faster) {
        return CompletableFuture.runAsync(() -> run(new ScaledProfile(profile, faster)), NewThread.EACH);
    }

    private void run(ScaledProfile profile) {
        try (KubernetesClient admin = real.client()) {
            runNodes(profile, admin);
            admin.nodes().withName(profile.name("alive") + "-0").delete();
            admin.nodes().withName(profile.name("frozen") + "-0").delete();
        }
    }

    private void runNodes(ScaledProfile profile, KubernetesClient admin) {
        try (TcpProxy proxy = TcpProxy.to(URI.create(real.url()).getPort());
                KubernetesClient frozen = through(proxy);
                HollowNodes alive = HollowNodes.start(admin, 1, profile.template("alive"));
                HollowNodes one = HollowNodes.start(frozen, 1, profile.template("frozen"))) {
            await().until(() -> alive.ready() == 1 && one.ready() == 1);
            admin.resource(profile.pod()).create();
            try (OwnMonitor monitor = new OwnMonitor(admin, profile)) {
                monitor.start();
                awaitTwoRenewals(profile, admin);
                freezeAndThaw(profile, admin, proxy);
            }
        }
    }

    /** Waits until the monitor has surely seen the node. */
    private static void awaitTwoRenewals(ScaledProfile profile, KubernetesClient admin) {
        // a node may be ready before its Lease is created
        ZonedDateTime first = await().until(() -> renewTime(profile, admin), Objects::nonNull);
        await().until(() -> Objects.requireNonNull(renewTime(profile, admin)).isAfter(first.plusSeconds(2)));
    }

    private static @Nullable ZonedDateTime renewTime(ScaledProfile profile, KubernetesClient admin) {
        Lease lease = admin.leases()
                .inNamespace("kube-node-lease")
                .withName(profile.name("frozen") + "-0")
                .get();
        return lease == null ? null : lease.getSpec().getRenewTime();
    }

    private static void freezeAndThaw(ScaledProfile profile, KubernetesClient admin, TcpProxy proxy) {
        proxy.freezeNew();
        proxy.freeze();
        long frozenAt = System.nanoTime();
        await().until(() -> ready(profile, admin).equals("Unknown"));
        assertThat(secondsSince(frozenAt))
                .as("until Node of %s is Unknown", profile)
                .isBetween(
                        profile.planned(PlanFigure.BEST_DETECTION) - EARLY,
                        profile.planned(PlanFigure.WORST_DETECTION) + SLACK);
        await().alias("until the pod of " + profile + " is deleted").until(() -> {
            Pod pod = pod(profile, admin);
            return pod == null || pod.getMetadata().getDeletionTimestamp() != null;
        });
        assertThat(secondsSince(frozenAt))
                .as("until the pod of %s is deleted", profile)
                .isBetween(
                        profile.planned(PlanFigure.BEST_EVICTION) - EARLY,
                        profile.planned(PlanFigure.WORST_EVICTION) + SLACK);
        proxy.thaw();
        await().until(() -> ready(profile, admin).equals("True"));
        await().until(() -> pod(profile, admin) == null);
    }

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }

    private static String ready(ScaledProfile profile, KubernetesClient admin) {
        return TestNodes.status(
                admin.nodes().withName(profile.name("frozen") + "-0").get(), "Ready");
    }

    private static Pod pod(ScaledProfile profile, KubernetesClient admin) {
        return admin.pods().inNamespace("default").withName(profile.name("web")).get();
    }

    private KubernetesClient through(TcpProxy proxy) {
        Config config = real.config();
        config.setMasterUrl("https://127.0.0.1:" + proxy.port() + "/");
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
