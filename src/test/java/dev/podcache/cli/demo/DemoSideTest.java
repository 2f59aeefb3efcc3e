package dev.podcache.cli.demo;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An agent of the demo on its API server, over real HTTP. */
@Slow
@ExtendWith(NoLeaks.class)
class DemoSideTest {

    private static final ObjectId DB = new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", "db-password"));
    private static final Duration NEVER = Duration.ofHours(1);

    private final DemoCluster cluster = DemoCluster.start(1);

    @BeforeEach
    void allowWarningsOfFailures(NoLeaks leaks) {
        leaks.allowWarnings("; retrying");
        leaks.allowWarnings("failed; retrying");
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void agent_strategyWatch_hasAllItsWatchesOnOneConnectionOfTwo() {
        try (DemoSide side = started(ChangeDetectionStrategy.WATCH, NEVER)) {
            // 18 of 21 objects, because kube-root-ca.crt of three namespaces is polled; the pods, the Node
            eventually(() -> side.server().openWatches() == 20);

            assertThat(side.server().connections())
                    .as("one for watches, one for reads")
                    .isEqualTo(2);
            assertThat(DemoSide.byVerb(side.server().requests().snapshot())).containsOnlyKeys("get", "list", "watch");
        }
    }

    @ParameterizedTest
    @EnumSource
    void agent_anyStrategy_followsItsNodeAndItsPodsOnce(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, NEVER)) {
            // the objects may be read, and watched, before these two watches are there
            eventually(() ->
                    side.server().requests().snapshot().keySet().containsAll(List.of("watch nodes", "watch pods")));

            assertThat(side.server().requests().snapshot())
                    .containsEntry("list nodes", 1)
                    .containsEntry("list pods", 1)
                    .containsEntry("watch nodes", 1)
                    .containsEntry("watch pods", 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void agent_anyStrategy_readsPodsWhenTheyComeAndNotOnlyAfterThePeriod(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, NEVER)) {
            eventually(() -> side.agent().counts().reads() >= 55);

            assertThat(count(side, "failed")).isZero();
        }
    }

    @Test
    void hasReadAll_onlyTheFirstPodIsRegisteredYet_isFalse() {
        CountDownLatch others = new CountDownLatch(1);
        PrintStream heldAtTheFirstPod =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8) {
                    @Override
                    public void println(String line) {
                        if (line.contains("registered")) {
                            Uninterruptibles.awaitUninterruptibly(others);
                        }
                    }
                };
        EventWriter events = RecordedOutput.direct(heldAtTheFirstPod);
        try (DemoSide side = side(ChangeDetectionStrategy.CACHE, NEVER, events)) {
            side.start();
            eventually(() -> side.agent().counts().reads() > 0 && side.agent().podsKeptWaiting() == 0);
            assertThat(side.agent().hasReadAll()).isFalse();

            others.countDown();
            eventually(() -> side.agent().hasReadAll());
        }
    }

    @ParameterizedTest
    @EnumSource
    void changes_objectThatChanged_isSeenWithoutTheReaders(ChangeDetectionStrategy strategy) {
        RecordedOutput recorded = RecordedOutput.ofText();
        try (DemoSide side = started(side(strategy, NEVER, recorded.events()))) {
            int reads = side.agent().counts().reads();
            side.changes().expect(DB, "rotation");
            rotate();

            eventually(() -> recorded.lines().stream()
                    .anyMatch(line -> line.matches(".*changed +Secret shop/db-password: .*, seen after .*")));
            assertThat(side.changes().seenAfter()).containsKey("rotation");
            assertThat(side.agent().counts().reads()).isLessThanOrEqualTo(Math.max(reads, 55));
        }
    }

    @Test
    void changes_changeOfTheUser_isReportedWithoutADelay() {
        RecordedOutput recorded = RecordedOutput.ofText();
        try (DemoSide side = started(side(ChangeDetectionStrategy.WATCH, Duration.ofMillis(50), recorded.events()))) {
            rotate();

            eventually(() -> recorded.lines().stream().anyMatch(line -> line.contains("changed ")));
            assertThat(recorded.lines()).noneMatch(line -> line.contains("seen after"));
            assertThat(side.changes().seenAfter()).isEmpty();
        }
    }

    private void rotate() {
        Secret secret = cluster.cluster()
                .get(Secret.class, DB.key().namespace(), DB.key().name());
        secret.getData().put("password", "c2Vjb25k");
        cluster.cluster().update(secret);
    }

    @ParameterizedTest
    @EnumSource(names = {"CACHE", "WATCH"})
    void fail_strategyThatRemembers_servesWhatItKnows(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, Duration.ofMillis(300))) {
            // on a busy machine a first read may fail, and what was never seen cannot be remembered
            eventually(() -> strategy != ChangeDetectionStrategy.WATCH || watches(side, "opened") == 18);
            side.fail();
            int before = count(side, "staleServed");
            eventually(() -> count(side, "staleServed") > before + 50);
            side.recover();

            Map<?, ?> outage = outage(side);
            assertThat((Integer) outage.get("staleServed")).isGreaterThan(50);
            assertThat(outage.get("failed")).isEqualTo(0);
        }
    }

    @Test
    void fail_strategyGet_keepsReadersWaiting() {
        try (DemoSide side = started(ChangeDetectionStrategy.GET, Duration.ofMillis(1500))) {
            side.fail();
            eventually(() -> side.agent().podsKeptWaiting() == 12);
            side.recover();

            assertThat(outage(side).get("podsKeptWaiting")).isEqualTo(12);
        }
    }

    @Test
    void recover_lostWatches_areLiveAgain() {
        try (DemoSide side = started(ChangeDetectionStrategy.WATCH, NEVER)) {
            eventually(() -> watches(side, "opened") == 18);
            side.fail();
            eventually(() -> watches(side, "lost") == 18);
            side.recover();

            eventually(() -> watches(side, "again") == 18);
            // they went on where they broke off, and a list confirmed each that no event had confirmed before
            assertThat(DemoSide.byVerb(side.server().requests().snapshot()).get("list"))
                    .isBetween(20, 20 + 18);
        }
    }

    @Test
    void recover_serverThatDidNotFail_isWithoutEffect() {
        try (DemoSide side = side(ChangeDetectionStrategy.WATCH, NEVER)) {
            side.recover();

            assertThat(outage(side)).isEmpty();
        }
    }

    private static Map<?, ?> outage(DemoSide side) {
        return (Map<?, ?>) Objects.requireNonNull(side.facts().get("outage"));
    }

    private static int count(DemoSide side, String result) {
        return side.agent().counts().results().count(result);
    }

    private static long watches(DemoSide side, String what) {
        return Objects.requireNonNull(side.agent().watches().get(what));
    }

    private DemoSide started(ChangeDetectionStrategy strategy, Duration syncPeriod) {
        return started(side(strategy, syncPeriod));
    }

    private static DemoSide started(DemoSide side) {
        side.start();
        eventually(() -> side.agent().hasReadAll());
        return side;
    }

    private DemoSide side(ChangeDetectionStrategy strategy, Duration syncPeriod) {
        return side(strategy, syncPeriod, RecordedOutput.ofText().events());
    }

    private DemoSide side(ChangeDetectionStrategy strategy, Duration syncPeriod, EventWriter events) {
        return new DemoSide(cluster, ObjectCaching.usual(strategy, syncPeriod), events);
    }

    private static void eventually(java.util.concurrent.Callable<Boolean> condition) {
        await().pollInterval(20, TimeUnit.MILLISECONDS).until(condition);
    }
}
