package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.net.InetAddresses;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.FakeHost;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A whole agent on a node whose memory runs short, on hand-driven time. */
@ExtendWith(NoLeaks.class)
class AgentEvictionTest {

    private static final long MI = 1L << 20;

    private final AgentFixture fixture = new AgentFixture();
    private final FakeHost host = new FakeHost();
    private final MeasuredRuntime runtime = new MeasuredRuntime(fixture.timekeeper);

    @BeforeEach
    void setUp() {
        host.addresses = List.of(InetAddresses.forString("192.0.2.7"));
        host.defaultRoutes = host.addresses;
        host.memory = Optional.of(new Supply(8192 * MI, 6000 * MI));
        host.bytes = Optional.of(new Supply(100_000 * MI, 50_000 * MI));
    }

    @AfterEach
    void tearDown() {
        fixture.close();
    }

    private void startAgent(EvictionOptions options) {
        fixture.agent(builder -> builder.facts(host).runtime(runtime).eviction(options))
                .start();
        advance(1);
    }

    private static EvictionOptions hard() {
        return EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of("memory.available", "1Gi")));
    }

    private void advance(long seconds) {
        fixture.timekeeper.advance(Duration.ofSeconds(seconds));
    }

    /** Creates a pod that uses memory, and may request some. */
    private void create(String name, int priority, String request, long usedMi) {
        runtime.memory.put(name, usedMi * MI);
        fixture.server
                .cluster()
                .create(Pods.assigned(AgentFixture.NODE, name)
                        .editSpec()
                        .withPriority(priority)
                        .editFirstContainer()
                        .withNewResources()
                        .addToRequests(request.isEmpty() ? Map.of() : Map.of("memory", new Quantity(request)))
                        .endResources()
                        .endContainer()
                        .endSpec()
                        .build());
        advance(1);
    }

    private String condition(String type) {
        return fixture.node().getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals(type))
                .map(NodeCondition::getStatus)
                .findFirst()
                .orElse("none");
    }

    private void available(long mi) {
        host.memory = Optional.of(new Supply(8192 * MI, mi * MI));
    }

    private String memoryPressure() {
        return condition("MemoryPressure");
    }

    private PodStatus status(String pod) {
        return fixture.pod(pod).getStatus();
    }

    @Test
    void memoryRunsShort_podsGoInUpstreamsOrderUntilThereIsEnough() {
        startAgent(hard());
        create("guaranteed-low", -1, "1Gi", 900);
        create("above-low", -1, "100Mi", 300);
        create("above-high", 5, "100Mi", 900);
        create("critical", 2_000_000_000, "", 2000);
        assertThat(memoryPressure()).isEqualTo("False");

        available(500);
        advance(11);
        assertThat(memoryPressure()).isEqualTo("True");
        assertThat(status("above-low").getPhase()).isEqualTo("Failed");
        assertThat(status("above-low").getReason()).isEqualTo("Evicted");
        assertThat(status("above-low").getMessage())
                .isEqualTo("The node was low on resource: memory. Threshold quantity: 1Gi, available: 500Mi. "
                        + "Container main was using 300Mi, request is 100Mi, has larger consumption of memory. ");
        assertThat(status("above-high").getPhase()).isEqualTo("Running");
        advance(10);
        advance(10);
        advance(10);
        assertThat(runtime.stopped).containsExactly("above-low 2", "above-high 2", "guaranteed-low 2");
        assertThat(status("critical").getPhase()).isEqualTo("Running");

        available(2000);
        advance(360);
        assertThat(memoryPressure()).isEqualTo("False");
        assertThat(status("critical").getPhase()).isEqualTo("Running");
    }

    @Test
    void localStorageLimits_off_nodeIsReadyAndOffersNone() {
        startAgent(hard().withLocalStorageLimits(false));
        advance(11);

        assertThat(condition("Ready")).isEqualTo("True");
        assertThat(fixture.node().getStatus().getCapacity()).containsOnlyKeys("cpu", "memory", "pods");
        assertThat(fixture.node().getStatus().getAllocatable()).containsOnlyKeys("cpu", "memory", "pods");
    }

    @Test
    void evictedPod_event_hasUpstreamsAnnotations() {
        startAgent(hard());
        create("web", 0, "", 300);
        available(500);
        advance(11);
        List<JsonNode> annotations = new ArrayList<>();
        for (JsonNode event : fixture.server
                .cluster()
                .list(Resource.EVENTS, Selection.everything(), "")
                .items()) {
            if (event.path("reason").asText().equals("Evicted")) {
                annotations.add(event.path("metadata").path("annotations"));
            }
        }
        assertThat(annotations)
                .extracting(JsonNode::toString)
                .containsExactly("{\"offending_containers\":\"main\",\"offending_containers_usage\":\"300Mi\","
                        + "\"starved_resource\":\"memory\"}");
    }

    @Test
    void memoryPressure_newPods_bestEffortOnesAreRefused() {
        startAgent(hard());
        available(500);
        advance(11);
        create("best-effort", 0, "", 0);
        create("burstable", 2_000_000_000, "10Mi", 5);
        assertThat(status("best-effort").getPhase()).isEqualTo("Failed");
        assertThat(status("best-effort").getReason()).isEqualTo("Evicted");
        assertThat(status("best-effort").getMessage())
                .isEqualTo("Pod was rejected: The node had condition: [MemoryPressure]. ");
        assertThat(status("burstable").getPhase()).isEqualTo("Running");
    }

    @Test
    void softThreshold_podGoesAfterTheGracePeriod_withTheLongestGraceAllowed() {
        startAgent(hard().withSoft(
                        EvictionThresholds.parse(Map.of("memory.available", "2Gi")),
                        Map.of("memory.available", Duration.ofMinutes(1)))
                .withMaxPodGracePeriod(Duration.ofSeconds(20)));
        create("web", 0, "", 300);
        available(1500);
        advance(15);
        assertThat(memoryPressure()).isEqualTo("True");
        assertThat(runtime.stopped).isEmpty();
        advance(60);
        assertThat(runtime.stopped).containsExactly("web 20");
    }

    @Test
    void allPodsUseMoreThanIsAllocatable_onePodGoesAlthoughTheMachineHasMore() {
        startAgent(hard());
        create("web", 0, "", 7500);
        advance(11);
        assertThat(runtime.stopped).containsExactly("web 2");
        assertThat(status("web").getMessage()).contains("Threshold quantity: 1Gi, available: 692Mi. ");
    }

    @Test
    void hollowRuntime_underPressure_reportsItAndNeitherEvictsNorRefuses() {
        fixture.agent(builder -> builder.facts(host).eviction(hard())).start();
        available(500);
        advance(11);
        create("web", 0, "", 0);
        advance(30);
        assertThat(memoryPressure()).isEqualTo("True");
        assertThat(status("web").getPhase()).isEqualTo("Running");
    }
}
