package dev.podcache.cli.demo;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.cli.observe.ObserverOptions;
import dev.podcache.cli.observe.ReadsInOutage;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
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
@ExtendWith(NoLeaks.class)
class DemoSideTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db-password");
    private static final Duration NEVER = Duration.ofHours(1);

    private final DemoCluster cluster = DemoCluster.start(1);

    @BeforeEach
    void allowWarningsOfFailures(NoLeaks leaks) {
        leaks.allowWarnings("; retrying");
        leaks.allowWarnings("cannot be followed");
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void agent_strategyWatch_hasAllItsWatchesOnOneConnection() {
        try (DemoSide side = started(ChangeDetectionStrategy.WATCH, NEVER)) {
            // 21 objects, the pods, the Node
            eventually(() -> side.server().watches() == 23);

            assertThat(side.server().connections()).isEqualTo(1);
            assertThat(side.server().requestsByVerb()).containsOnlyKeys("list", "watch");
            assertThat(side.connections().text()).isEqualTo("1 open; 23 watches share them: HTTP/2 without TLS (h2c)");
        }
    }

    @ParameterizedTest
    @EnumSource
    void agent_anyStrategy_followsItsNodeAndItsPodsOnce(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, NEVER)) {
            // the objects may be read, and watched, before these two watches are there
            eventually(() -> side.server().requestsByKind().keySet().containsAll(List.of("watch nodes", "watch pods")));

            assertThat(side.server().requestsByKind())
                    .containsEntry("list nodes", 1L)
                    .containsEntry("list pods", 1L)
                    .containsEntry("watch nodes", 1L)
                    .containsEntry("watch pods", 1L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void agent_anyStrategy_readsPodsWhenTheyComeAndNotOnlyAfterThePeriod(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, NEVER)) {
            eventually(() -> side.agent().counts().reads() >= 55);

            assertThat(side.agent().counts().failed()).isZero();
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
        Account account = Account.direct(heldAtTheFirstPod, Account.Format.TEXT, System::nanoTime);
        try (DemoSide side = side(ChangeDetectionStrategy.CACHE, NEVER, account)) {
            side.agent().start();
            eventually(() -> side.agent().counts().reads() > 0 && side.agent().podsKeptWaiting() == 0);
            assertThat(side.agent().hasReadAll()).isFalse();

            others.countDown();
            eventually(() -> side.agent().hasReadAll());
        }
    }

    @ParameterizedTest
    @EnumSource
    void lookFor_objectThatChanged_seesItWithoutTheReaders(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, NEVER)) {
            long reads = side.agent().counts().reads();
            side.changes().make(ObjectKind.SECRET, DB, "rotation");
            Secret secret = cluster.cluster().get(Secret.class, DB.namespace(), DB.name());
            secret.getData().put("password", "c2Vjb25k");
            cluster.cluster().update(secret);

            side.lookFor(ObjectKind.SECRET, DB);

            eventually(() -> side.changes().seenAfter().containsKey("rotation"));
            assertThat(side.agent().counts().reads()).isLessThanOrEqualTo(Math.max(reads, 55));
            assertThat(side.figures().seenAfter()).containsOnlyKeys("rotation");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"CACHE", "WATCH"})
    void fail_strategyThatRemembers_servesWhatItKnows(ChangeDetectionStrategy strategy) {
        try (DemoSide side = started(strategy, Duration.ofMillis(300))) {
            // on a busy machine a first read may be in vain, and what was never seen cannot be remembered
            eventually(() -> strategy != ChangeDetectionStrategy.WATCH
                    || side.agent().watches().opened() == 21);
            side.fail();
            long before = side.agent().counts().stale();
            eventually(() -> side.agent().counts().stale() > before + 50);
            side.recover();

            Map<String, Object> outage = Objects.requireNonNull(side.outage()).facts();
            assertThat((Long) outage.get("staleServed")).isGreaterThan(50);
            assertThat(outage).containsEntry("failed", 0L);
            assertThat(side.figures().facts()).containsEntry("outage", outage);
        }
    }

    @Test
    void fail_strategyGet_keepsReadersWaiting() {
        try (DemoSide side = started(ChangeDetectionStrategy.GET, Duration.ofMillis(1500))) {
            side.fail();
            eventually(() -> side.agent().podsKeptWaiting() == 12);
            side.recover();

            ReadsInOutage outage = Objects.requireNonNull(side.outage());
            assertThat(outage.podsKeptWaiting()).isEqualTo(12);
            assertThat(outage.event().text()).endsWith("; the readers of 12 pods still wait");
        }
    }

    @Test
    void recover_lostWatches_areLiveAgain() {
        try (DemoSide side = started(ChangeDetectionStrategy.WATCH, NEVER)) {
            eventually(() -> side.agent().watches().opened() == 21);
            side.fail();
            eventually(() -> side.agent().watches().lost() == 21);
            side.recover();

            eventually(() -> side.agent().watches().again() == 21);
            // they went on where they broke off, and a list confirmed each that no event had confirmed before
            assertThat(side.server().requestsByVerb().get("list")).isBetween(23L, 23L + 21L);
        }
    }

    @Test
    void recover_serverThatDidNotFail_isWithoutEffect() {
        try (DemoSide side = side(ChangeDetectionStrategy.WATCH, NEVER)) {
            side.recover();

            assertThat(side.outage()).isNull();
            assertThat(side.figures().facts()).doesNotContainKey("outage");
        }
    }

    private DemoSide started(ChangeDetectionStrategy strategy, Duration syncPeriod) {
        DemoSide side = side(strategy, syncPeriod);
        side.agent().start();
        eventually(() -> side.agent().hasReadAll());
        return side;
    }

    private DemoSide side(ChangeDetectionStrategy strategy, Duration syncPeriod) {
        return side(strategy, syncPeriod, RecordedAccount.ofText().account());
    }

    private DemoSide side(ChangeDetectionStrategy strategy, Duration syncPeriod, Account account) {
        ObserverOptions options =
                new ObserverOptions(DemoCluster.NODE, ObjectCaching.usual(strategy, syncPeriod), NEVER);
        return new DemoSide(cluster, options, account);
    }

    private static void eventually(java.util.concurrent.Callable<Boolean> condition) {
        await().pollInterval(20, TimeUnit.MILLISECONDS).until(condition);
    }
}
