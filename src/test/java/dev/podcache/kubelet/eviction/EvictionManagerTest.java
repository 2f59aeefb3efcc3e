package dev.podcache.kubelet.eviction;

import static dev.podcache.kubelet.eviction.MeasuredPods.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The loop of an eviction manager: when it runs, what it waits for, and that it goes on. */
@ExtendWith(NoLeaks.class)
class EvictionManagerTest {

    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final ManagerFixture node = new ManagerFixture(
            EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of("memory.available", "1Gi"))));

    @AfterEach
    void close() {
        node.close();
    }

    private void addPods() {
        for (String name : new String[] {"a", "b", "c"}) {
            Pod pod = pod(name, 0, "", "");
            node.add(pod, MeasuredPods.memory(pod, "1Mi"));
        }
    }

    private void underPressure() {
        node.set(EvictionSignal.MEMORY_AVAILABLE, "500Mi");
    }

    @Test
    void start_noPressure_measuresEveryTenSeconds() {
        node.set(EvictionSignal.MEMORY_AVAILABLE, "2Gi");
        node.manager.start();
        assertThat(node.measured).isEqualTo(1);
        node.time.advance(PERIOD.minusMillis(1));
        assertThat(node.measured).isEqualTo(1);
        node.time.advance(PERIOD);
        assertThat(node.measured).isEqualTo(2);
        assertThat(node.changes).isEmpty();
    }

    @Test
    void run_pressureBeginsAndEnds_isToldOnceEach() {
        underPressure();
        node.manager.start();
        node.time.advance(PERIOD);
        assertThat(node.changes).hasSize(1);
        assertThat(node.manager.isUnder(PressureType.MEMORY)).isTrue();
        node.set(EvictionSignal.MEMORY_AVAILABLE, "2Gi");
        node.time.advance(Duration.ofMinutes(6));
        assertThat(node.changes).hasSize(2);
        assertThat(node.manager.isUnder(PressureType.MEMORY)).isFalse();
    }

    @Test
    void run_evictedPodStops_theNextOneFollowsAtOnce() {
        addPods();
        underPressure();
        node.endsAtOnce = false;
        node.manager.start();
        node.time.advance(PERIOD.multipliedBy(2));
        assertThat(node.evicted).hasSize(1);
        node.pods.remove(0);
        node.ends.get(0).complete(null);
        node.time.advance(MOMENT);
        assertThat(node.evicted)
                .extracting(each -> each.pod().getMetadata().getName())
                .containsExactly("a", "b");
    }

    @Test
    @ExpectedWarnings("an evicted pod has not stopped for 30 s; going on")
    void run_evictedPodDoesNotStop_evictsTheNextOneAfterThirtySeconds() {
        addPods();
        underPressure();
        node.endsAtOnce = false;
        node.manager.start();
        node.time.advance(Duration.ofSeconds(29));
        assertThat(node.measured).isEqualTo(1);
        node.time.advance(Duration.ofSeconds(2));
        assertThat(node.measured).isEqualTo(2);
        assertThat(node.evicted)
                .extracting(each -> each.pod().getMetadata().getName())
                .containsExactly("a", "b");
        node.time.advance(Duration.ofSeconds(90));
        assertThat(node.evicted)
                .extracting(each -> each.pod().getMetadata().getName())
                .containsExactly("a", "b", "c");
    }

    @Test
    void run_evictionEndsWithoutAWait_doesNotSpin() {
        addPods();
        underPressure();
        node.manager.start();
        node.time.advance(PERIOD.minusMillis(1));
        assertThat(node.measured).isEqualTo(1);
        node.time.advance(PERIOD);
        assertThat(node.evicted).hasSize(2);
    }

    @Test
    @ExpectedWarnings("a run of the eviction manager failed; retrying in 10 s")
    void run_throwsAnError_theNextOneFollows() {
        node.fails = true;
        node.manager.start();
        node.fails = false;
        underPressure();
        node.time.advance(PERIOD);
        assertThat(node.manager.isUnder(PressureType.MEMORY)).isTrue();
    }

    @Test
    void run_podsNotMeasured_reportsPressureAndEvictsNone() {
        addPods();
        underPressure();
        node.podsMeasured = false;
        node.manager.start();
        node.time.advance(PERIOD);
        assertThat(node.manager.isUnder(PressureType.MEMORY)).isTrue();
        assertThat(node.evicted).isEmpty();
    }

    @Test
    @ExpectedWarnings("memory.available cannot be read on this machine; its eviction threshold 1Gi is ignored")
    void run_signalCannotBeRead_isIgnoredWithOneWarning() {
        node.manager.start();
        node.time.advance(PERIOD.multipliedBy(3));
        assertThat(node.manager.isUnder(PressureType.MEMORY)).isFalse();
        assertThat(node.measured).isEqualTo(4);
    }

    @Test
    void close_later_measuresAndEvictsNothing() {
        addPods();
        node.set(EvictionSignal.MEMORY_AVAILABLE, "2Gi");
        node.manager.start();
        node.manager.close();
        underPressure();
        node.time.advance(Duration.ofMinutes(1));
        assertThat(node.measured).isEqualTo(1);
        assertThat(node.evicted).isEmpty();
    }

    @Test
    @ExpectedWarnings("an evicted pod has not stopped for 30 s; going on")
    void run_podOverItsLimitDoesNotStop_pressureIsRelievedNevertheless() {
        Pod hanging = MeasuredPods.withLocalVolume(pod("hanging", 0, "", ""), "", "1Gi");
        node.add(hanging, MeasuredPods.disk(hanging, "", "", "2Gi"));
        addPods();
        underPressure();
        node.endsAtOnce = false;
        node.manager.start();
        node.time.advance(Duration.ofSeconds(31));
        assertThat(node.evicted).hasSize(2);
        assertThat(node.evicted.get(0).pod()).isEqualTo(hanging);
        assertThat(node.evicted.get(0).forPressure()).isFalse();
        assertThat(node.evicted.get(1).forPressure()).isTrue();
    }

    @Test
    void run_hardThresholdAfterASoftEviction_shortensTheGracePeriodOfTheSamePod() throws InterruptedException {
        try (ManagerFixture soft = new ManagerFixture(EvictionOptions.defaults()
                .withHard(EvictionThresholds.parse(Map.of("memory.available", "1Gi")))
                .withSoft(
                        EvictionThresholds.parse(Map.of("memory.available", "2Gi")),
                        Map.of("memory.available", Duration.ofSeconds(10)))
                .withMaxPodGracePeriod(Duration.ofSeconds(-1)))) {
            Pod pod = pod("a", 0, "", "");
            soft.add(pod, MeasuredPods.memory(pod, "1Mi"));
            soft.endsAtOnce = false;
            soft.set(EvictionSignal.MEMORY_AVAILABLE, "1500Mi");
            soft.sync();
            assertThat(soft.syncAfter(PERIOD)).containsExactly("a");
            assertThat(soft.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(30));
            assertThat(soft.syncAfter(PERIOD)).isEmpty();

            soft.set(EvictionSignal.MEMORY_AVAILABLE, "500Mi");

            assertThat(soft.syncAfter(PERIOD)).containsExactly("a");
            assertThat(soft.evicted.get(0).gracePeriod()).isEqualTo(Duration.ofSeconds(1));
            assertThat(soft.syncAfter(PERIOD)).isEmpty();
        }
    }

    @Test
    void run_oldFiguresOfPods_stillEvict() throws InterruptedException {
        addPods();
        underPressure();
        node.podsAreOld = true;

        assertThat(node.sync()).containsExactly("a");
    }
}
