package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.podstatus.PodStatuses;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.testing.ManualTimers;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a real server makes of what we say of pods. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class PodStatusRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(PodStatusRealServerTest.class);
    private static final int PODS = 110;
    private static final Duration OVER_TWO_FULL_PASSES = Duration.ofSeconds(21);

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final KubernetesClient client = real.client();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client);
    private final Logged api = new Logged(server.api(ObjectKind.POD, Duration.ofSeconds(10)));
    private final Map<String, Pod> known = new ConcurrentHashMap<>();
    private final PodStatusManager manager = managerOn(server.timekeeper());

    /** The port with a log of its requests, each as its verb and the pod's name. */
    private static final class Logged extends ForwardingObjectApi<Pod> {

        private final List<String> requests = new CopyOnWriteArrayList<>();
        private volatile Runnable beforeNextPatch = () -> {};

        Logged(ObjectApi<Pod> api) {
            super(api);
        }

        List<String> requests() {
            return requests;
        }

        @Override
        public CompletableFuture<Pod> get(ObjectKey key) {
            requests.add("GET " + key.name());
            return super.get(key);
        }

        @Override
        public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
            requests.add("PATCH " + key.name());
            Runnable before = beforeNextPatch;
            beforeNextPatch = () -> {};
            before.run();
            return super.patchStatus(key, patch);
        }

        @Override
        public CompletableFuture<Pod> delete(ObjectKey key, String uid) {
            requests.add("DELETE " + key.name());
            return super.delete(key, uid);
        }
    }

    @BeforeEach
    void start() {
        manager.start();
    }

    @AfterEach
    void close() {
        manager.close();
        server.close();
        client.close();
        shop.close();
    }

    @Test
    @Needs(ServerFeature.PRINTERS)
    void setPodStatus_isShownByKubectl() {
        Pod pod = create("cart");

        manager.setPodStatus(pod, waiting(pod));
        await().until(() -> kubectl("cart").contains("CreateContainerConfigError"));
        assertThat(kubectl("cart")).contains("0/1");

        manager.setPodStatus(pod, running(pod));
        await().until(() -> kubectl("cart").contains("Running"));
        assertThat(kubectl("cart")).contains("1/1").contains("10.1.0.7");
        assertThat(shop.kubectl("describe", "pod", "cart"))
                .containsPattern("Ready +True")
                .containsPattern("QoS Class: +BestEffort");
    }

    /** Providers often know one address only. The server makes a list of it, which must not look like a foreign change. */
    @Test
    void setPodStatus_withAnAddressOnly_isOneReport() {
        Pod pod = create("cart");
        PodStatus status = running(pod);
        status.setPodIPs(null);

        manager.setPodStatus(pod, status);
        await().until(() -> phase("cart").equals("Running"));
        status.setMessage("a second report");
        manager.setPodStatus(pod, status);
        await().until(() -> "a second report".equals(read("cart").getStatus().getMessage()));

        assertThat(read("cart").getStatus().getPodIPs()).hasSize(1);
        // a full pass may add a GET
        assertThat(api.requests()).filteredOn("PATCH cart"::equals).hasSize(2);
    }

    @Test
    @ExpectedWarnings("another client changed the status")
    void statusIsOverwrittenBetweenGetAndPatch_isReportedAgain() {
        Pod pod = create("cart");
        PodStatus status = running(pod);
        manager.setPodStatus(pod, status);
        await().until(() -> phase("cart").equals("Running"));

        api.beforeNextPatch = () -> shop.admin()
                .pods()
                .inNamespace(shop.name())
                .withName("cart")
                .editStatus(running -> new PodBuilder(running)
                        .editStatus()
                        .withPhase("Unknown")
                        .endStatus()
                        .build());
        status.setMessage("a second report");
        manager.setPodStatus(pod, status);

        await().until(() -> {
            PodStatus stored = read("cart").getStatus();
            return "Running".equals(stored.getPhase()) && "a second report".equals(stored.getMessage());
        });
    }

    @Test
    void terminatePod_afterAGracefulDelete_removesThePod() {
        Pod pod = create("cart");
        manager.setPodStatus(pod, running(pod));
        await().until(() -> phase("cart").equals("Running"));
        shop.kubectl("delete", "pod", "cart", "--wait=false");

        Pod terminating = read("cart");
        assertThat(terminating.getMetadata().getDeletionTimestamp()).isNotNull();
        manager.terminatePod(terminating);

        await().until(() -> shop.kubectl("get", "pods", "--no-headers").isBlank());
        assertThat(api.requests()).endsWith("GET cart", "PATCH cart", "DELETE cart");
    }

    @Test
    void terminatePod_podOfThatNameIsAnotherByNow_leavesItAlone() {
        Pod old = create("cart");
        manager.setPodStatus(old, running(old));
        await().until(() -> phase("cart").equals("Running"));
        shop.kubectl("delete", "pod", "cart", "--grace-period=0", "--force");
        Pod successor = create("cart");

        manager.terminatePod(old);
        await().until(() -> manager.getPodStatus(old.getMetadata().getUid()).isEmpty());

        assertThat(read("cart").getMetadata().getUid())
                .isEqualTo(successor.getMetadata().getUid());
        assertThat(read("cart").getStatus().getPhase()).isEqualTo("Pending");
        assertThat(api.requests()).endsWith("GET cart");
    }

    @Test
    void fullNode_isReportedOnceAndThenLeftAlone() {
        List<Pod> pods = new ArrayList<>();
        for (int i = 0; i < PODS; i++) {
            pods.add(create("web-" + i));
        }
        try (ManualTimers time = new ManualTimers();
                PodStatusManager driven = managerOn(time)) {
            driven.start();
            long began = System.nanoTime();
            pods.forEach(pod -> driven.setPodStatus(pod, running(pod)));
            await().until(() -> {
                time.advance(Duration.ZERO);
                return api.requests().size() == 2 * PODS;
            });
            log.info(
                    "{} pods reported within {} ms",
                    PODS,
                    Duration.ofNanos(System.nanoTime() - began).toMillis());
            await().until(() -> shop.admin().pods().inNamespace(shop.name()).list().getItems().stream()
                    .allMatch(pod -> "Running".equals(pod.getStatus().getPhase())));
            // an old server knows no hostIPs and no started containers' signals: what it dropped must
            // not be sent again and again
            pods.forEach(pod ->
                    known.put(pod.getMetadata().getUid(), read(pod.getMetadata().getName())));

            time.advance(OVER_TWO_FULL_PASSES);
        }

        assertThat(api.requests())
                .hasSize(2 * PODS)
                .filteredOn(request -> request.startsWith("PATCH"))
                .hasSize(PODS);
        assertThat(known.values())
                .allSatisfy(pod -> assertThat(pod.getStatus().getHostIPs())
                        .hasSize(real.version().keepsHostIps() ? 1 : 0));
    }

    private PodStatusManager managerOn(Timekeeper time) {
        return new PodStatusManager(api, uid -> Optional.ofNullable(known.get(uid)), time, () -> 0.0);
    }

    private Pod create(String name) {
        Pod pod = shop.createPod(name, "worker-1");
        known.put(pod.getMetadata().getUid(), pod);
        return pod;
    }

    private Pod read(String name) {
        return shop.admin().pods().inNamespace(shop.name()).withName(name).get();
    }

    private String kubectl(String name) {
        return shop.kubectl("get", "pod", name, "--output=wide", "--no-headers");
    }

    private String phase(String name) {
        return read(name).getStatus().getPhase();
    }

    private static PodStatus running(Pod pod) {
        ContainerStatus main = new ContainerStatusBuilder()
                .withName("main")
                .withContainerID("test://main")
                .withImage("none")
                .withReady(true)
                .withStarted(true)
                .withNewState()
                .withNewRunning("2026-01-01T00:00:00Z")
                .endState()
                .build();
        return PodStatuses.of(
                pod, PodObservation.of(List.of(main), List.of()).at(List.of("10.0.0.1"), List.of("10.1.0.7")));
    }

    private static PodStatus waiting(Pod pod) {
        ContainerStatus main = new ContainerStatusBuilder()
                .withName("main")
                .withNewState()
                .withNewWaiting("secret \"db\" not found", "CreateContainerConfigError")
                .endState()
                .build();
        return PodStatuses.of(pod, PodObservation.of(List.of(main), List.of()));
    }
}
