package dev.podcache.cli.observe;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PeriodicReadsTest {

    private final List<Pod> pods = new CopyOnWriteArrayList<>();
    private final ScriptedReads script = new ScriptedReads();
    private final PeriodicReads sync = new PeriodicReads(script.caches());

    @AfterEach
    void close() {
        script.releaseAll();
        sync.close();
    }

    @Test
    void sync_podWithReferences_readsEachUseOfEachObject() {
        sync.sync(pod("cart", "db"));

        assertThat(script.reads)
                .containsExactly("Secret shop/registry", "Secret shop/db", "Secret shop/db", "ConfigMap shop/settings");
    }

    @Test
    void sync_objectThatCannotBeRead_doesNotStopTheOthers() {
        script.fail(
                "Secret shop/registry",
                new ObjectUnavailableException.FetchFailed(
                        ObjectKind.SECRET, ObjectKey.of("shop", "registry"), FailureReason.FORBIDDEN, 403, null, null));

        sync.sync(pod("cart", "db"));

        assertThat(script.reads).hasSize(4);
    }

    @Test
    @ExpectedWarnings("periodic-reads: a task failed; it runs again in the next period")
    void start_syncThatFails_isFollowedByTheNext() throws Exception {
        CountDownLatch syncs = new CountDownLatch(2);
        Supplier<List<Pod>> failingOnce = () -> {
            syncs.countDown();
            if (syncs.getCount() > 0) {
                throw new IllegalStateException("once");
            }
            return List.of();
        };
        sync.start(failingOnce, Duration.ofMillis(5));

        assertThat(syncs.await(60, SECONDS)).isTrue();
    }

    @Test
    void sync_nameThatNoObjectCanHave_doesNotStopTheOthers() {
        script.fail("Secret shop/DB", new IllegalArgumentException("name \"DB\" is not a legal Kubernetes name"));

        sync.sync(pod("cart", "DB"));

        assertThat(script.reads).hasSize(4);
    }

    @Test
    void start_severalPods_areReadAgainEachPeriod() throws InterruptedException {
        pods.add(pod("cart", "db"));
        CountDownLatch thirdRound = new CountDownLatch(3 * 4);
        script.rounds = thirdRound;

        sync.start(() -> pods, Duration.ofMillis(5));

        assertThat(thirdRound.await(60, SECONDS)).isTrue();
    }

    @Test
    void start_onePodWaitsForASlowObject_othersAreSynced() throws InterruptedException {
        script.hold("Secret shop/slow");
        pods.add(pod("stuck", "slow"));
        pods.add(pod("cart", "db"));
        CountDownLatch manyRounds = new CountDownLatch(100);
        script.rounds = manyRounds;

        sync.start(() -> pods, Duration.ofMillis(1));

        assertThat(manyRounds.await(60, SECONDS)).isTrue();
        assertThat(script.reads).filteredOn("Secret shop/slow"::equals).hasSize(1);
    }

    @Test
    void soon_podThatCame_isReadBeforeThePeriodIsOver() throws InterruptedException {
        CountDownLatch onceEach = new CountDownLatch(4);
        script.rounds = onceEach;
        sync.start(() -> pods, Duration.ofHours(1));

        sync.soon(pod("cart", "db"));

        assertThat(onceEach.await(60, SECONDS)).isTrue();
    }

    @Test
    void soon_podThatIsBeingSynced_isNotReadTwice() {
        script.hold("Secret shop/slow");

        sync.soon(pod("stuck", "slow"));
        sync.soon(pod("stuck", "slow"));

        assertThat(sync.busy()).isEqualTo(1);
    }

    @Test
    void soon_closed_isWithoutEffect() {
        sync.close();

        sync.soon(pod("cart", "db"));

        assertThat(sync.busy()).isZero();
        assertThat(script.reads).isEmpty();
    }

    private static Pod pod(String name, String secret) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid(name)
                .endMetadata()
                .withNewSpec()
                .addNewImagePullSecret("registry")
                .addNewContainer()
                .addNewEnvFrom()
                .withNewSecretRef(secret, false)
                .endEnvFrom()
                .endContainer()
                .addNewVolume()
                .withNewSecret()
                .withSecretName(secret)
                .endSecret()
                .endVolume()
                .addNewVolume()
                .withNewConfigMap()
                .withName("settings")
                .endConfigMap()
                .endVolume()
                .endSpec()
                .build();
    }
}
