package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class EvictionRankingProperties {

    /** The priority of {@code system-cluster-critical}, the lower one of the two classes that Kubernetes has. */
    private static final int CRITICAL = 2_000_000_000;

    /** A pod and what it uses; a use of -1 was not measured. */
    record RankedPod(int priority, int requestMi, int usedMi) {}

    @Provide
    Arbitrary<List<RankedPod>> candidates() {
        Arbitrary<Integer> priorities = Arbitraries.of(-1, 0, 1, 1_999_999_999, 2_000_000_000, 2_000_001_000);
        Arbitrary<Integer> amounts = Arbitraries.of(-1, 0, 1, 2, 3, 100);
        return Combinators.combine(priorities, amounts.filter(mi -> mi >= 0), amounts)
                .as(RankedPod::new)
                .list()
                .ofMaxSize(8);
    }

    private static List<Pod> pods(List<RankedPod> candidates) {
        List<Pod> pods = new ArrayList<>();
        for (int i = 0; i < candidates.size(); i++) {
            RankedPod each = candidates.get(i);
            pods.add(MeasuredPods.pod("p" + i, each.priority, "memory=" + each.requestMi + "Mi", ""));
        }
        return pods;
    }

    private static Measurement measurement(List<RankedPod> candidates, List<Pod> pods, long available) {
        List<PodUsage> usage = new ArrayList<>();
        for (int i = 0; i < candidates.size(); i++) {
            if (candidates.get(i).usedMi >= 0) {
                usage.add(MeasuredPods.memory(pods.get(i), candidates.get(i).usedMi + "Mi"));
            }
        }
        return Measurement.of(
                Map.of(EvictionSignal.MEMORY_AVAILABLE, new Supply(1000, available)), usage, StorageLayout.SHARED);
    }

    @Property
    void ranked_podsInAnyOrder_isOneOrder(
            @ForAll("candidates") List<RankedPod> candidates, @ForAll EvictionSignal signal, @ForAll Random random) {
        List<Pod> pods = pods(candidates);
        Measurement measurement = measurement(candidates, pods, 0);
        List<Pod> ranked = EvictionRanking.ranked(pods, signal, measurement);
        Collections.shuffle(pods, random);
        assertThat(EvictionRanking.ranked(pods, signal, measurement)).isEqualTo(ranked);
    }

    @Property
    void forPressure_anyPods_isNeverACriticalOneAndNeverFailsToFindAnother(
            @ForAll("candidates") List<RankedPod> candidates) {
        List<Pod> pods = pods(candidates);
        EvictionPolicy policy = new EvictionPolicy(
                EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of("memory.available", "500"))));
        Measurement measurement = measurement(candidates, pods, 100);
        Optional<Eviction> eviction = policy.forPressure(policy.assess(measurement, 0), pods, measurement)
                .findFirst();
        boolean anyMayGo = candidates.stream().anyMatch(pod -> pod.priority < CRITICAL);
        assertThat(eviction.isPresent()).isEqualTo(anyMayGo);
        eviction.ifPresent(each ->
                assertThat(candidates.get(pods.indexOf(each.pod())).priority).isLessThan(CRITICAL));
    }

    /** The less is available, the more pressures there are; and none ends before its transition period. */
    @Property
    void assess_anySupplies_pressureGrowsAsSuppliesShrinkAndLasts(
            @ForAll("supplies") List<Long> supplies, @ForAll("supplies") List<Long> less) {
        Duration transition = Duration.ofSeconds(30);
        EvictionOptions options = EvictionOptions.defaults()
                .withPressureTransition(transition)
                .withHard(EvictionThresholds.parse(Map.of("memory.available", "500", "pid.available", "10%")));
        EvictionPolicy more = new EvictionPolicy(options);
        EvictionPolicy fewer = new EvictionPolicy(options);
        long lastMet = -transition.toNanos();
        for (int i = 0; i < Math.min(supplies.size(), less.size()); i++) {
            long now = i * Duration.ofSeconds(10).toNanos();
            long available = supplies.get(i);
            var assessed = more.assess(both(available), now);
            var shorter = fewer.assess(both(Math.min(available, less.get(i))), now);
            assertThat(shorter.pressures()).containsAll(assessed.pressures());
            lastMet = available < 500 ? now : lastMet;
            assertThat(assessed.pressures().contains(PressureType.MEMORY))
                    .isEqualTo(now - lastMet < transition.toNanos());
        }
    }

    @Provide
    Arbitrary<List<Long>> supplies() {
        return Arbitraries.longs().between(0, 1000).list().ofMinSize(1).ofMaxSize(20);
    }

    private static Measurement both(long available) {
        Supply supply = new Supply(1000, available);
        return Measurement.of(
                Map.of(EvictionSignal.MEMORY_AVAILABLE, supply, EvictionSignal.PID_AVAILABLE, supply),
                List.of(),
                StorageLayout.SHARED);
    }
}
