package dev.podcache.cli.observe;

import static dev.podcache.testing.Patience.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PeriodicReadsTest {

    private final List<Pod> pods = new CopyOnWriteArrayList<>();
    private final List<String> reads = new CopyOnWriteArrayList<>();
    private final Map<String, RuntimeException> failures = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final WatchNews news = new WatchNews(event -> {});
    private final Watched watched = new Watched(news);
    private final ReadCounter counter = new ReadCounter(watched);
    private final PeriodicReads sync = new PeriodicReads(
            this::read,
            new Sightings(
                    sighting -> told.add(sighting.event("", ImmutableMap.of()).text())),
            counter,
            watched);

    @AfterEach
    void close() {
        held.values().forEach(CountDownLatch::countDown);
        sync.close();
        news.close();
    }

    @Test
    void sync_podWithReferences_readsEachUseOfEachObject() {
        sync.sync(pod("cart", "db"));

        assertThat(reads)
                .containsExactly("Secret shop/registry", "Secret shop/db", "Secret shop/db", "ConfigMap shop/settings");
        assertThat(counter.counts().reads()).isEqualTo(4);
        assertThat(counter.counts().failed()).isZero();
    }

    @Test
    void sync_objectThatCannotBeHad_isToldAndDoesNotStopTheOthers() {
        failures.put(
                "Secret shop/registry",
                new ObjectUnavailableException.FetchFailed(
                        ObjectKind.SECRET, ObjectKey.of("shop", "registry"), FailureReason.FORBIDDEN, 403, null, null));

        sync.sync(pod("cart", "db"));

        assertThat(told).containsExactly("Secret shop/registry: cannot be read, FORBIDDEN");
        assertThat(reads).hasSize(4);
        assertThat(counter.counts().failed()).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("a sync of the pods failed; the next one comes all the same")
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
    void sync_objectLetGoOfMeanwhile_isNoFailure() {
        failures.put(
                "Secret shop/db",
                new ObjectUnavailableException.NotRegistered(ObjectKind.SECRET, ObjectKey.of("shop", "db")));

        sync.sync(pod("cart", "db"));

        assertThat(told).isEmpty();
        assertThat(counter.counts().reads()).isEqualTo(4);
        assertThat(counter.counts().failed()).isZero();
    }

    @Test
    void sync_nameThatNoObjectCanHave_isTold() {
        failures.put("Secret shop/DB", new IllegalArgumentException("name \"DB\" is not a legal Kubernetes name"));

        sync.sync(pod("cart", "DB"));

        assertThat(told).containsExactly("Secret shop/DB: cannot be read, ILLEGAL_NAME");
        assertThat(counter.counts().reads()).isEqualTo(2);
    }

    @Test
    void start_severalPods_areReadAgainEachPeriod() throws InterruptedException {
        pods.add(pod("cart", "db"));
        CountDownLatch thirdRound = new CountDownLatch(3 * 4);
        rounds = thirdRound;

        sync.start(() -> pods, Duration.ofMillis(5));

        assertThat(thirdRound.await(60, SECONDS)).isTrue();
    }

    @Test
    void start_onePodWaitsForASlowObject_othersAreSynced() throws InterruptedException {
        held.put("Secret shop/slow", new CountDownLatch(1));
        pods.add(pod("stuck", "slow"));
        pods.add(pod("cart", "db"));
        CountDownLatch manyRounds = new CountDownLatch(100);
        rounds = manyRounds;

        sync.start(() -> pods, Duration.ofMillis(1));

        assertThat(manyRounds.await(60, SECONDS)).isTrue();
        assertThat(reads).filteredOn("Secret shop/slow"::equals).hasSize(1);
    }

    @Test
    void soon_podThatCame_isReadBeforeThePeriodIsOver() throws InterruptedException {
        CountDownLatch onceEach = new CountDownLatch(4);
        rounds = onceEach;
        sync.start(() -> pods, Duration.ofHours(1));

        sync.soon(pod("cart", "db"));

        assertThat(onceEach.await(60, SECONDS)).isTrue();
    }

    @Test
    void soon_podThatIsBeingSynced_isNotReadTwice() {
        held.put("Secret shop/slow", new CountDownLatch(1));

        sync.soon(pod("stuck", "slow"));
        sync.soon(pod("stuck", "slow"));

        assertThat(sync.busy()).isEqualTo(1);
    }

    @Test
    void soon_closed_isWithoutEffect() {
        sync.close();

        sync.soon(pod("cart", "db"));

        assertThat(sync.busy()).isZero();
        assertThat(reads).isEmpty();
    }

    @Test
    void start_objectsThatNobodyRefersToAnyMore_areForgotten() {
        ObjectKey gone = ObjectKey.of("shop", "gone");
        watched.synced(ObjectKind.SECRET, gone, Duration.ofMillis(1));

        sync.start(() -> pods, Duration.ofMillis(5));

        await().until(() -> !watched.isKnown(ObjectKind.SECRET, gone));
    }

    @Test
    void look_objectThatCannotBeHad_isToldAndNotCounted() {
        failures.put(
                "Secret shop/db",
                new ObjectUnavailableException.NotFound(ObjectKind.SECRET, ObjectKey.of("shop", "db"), null));

        sync.look(ObjectKind.SECRET, ObjectKey.of("shop", "db"));

        assertThat(told).containsExactly("Secret shop/db: the API server has none");
        assertThat(counter.counts()).isEqualTo(Counts.NONE);
    }

    private volatile CountDownLatch rounds = new CountDownLatch(0);

    private HasMetadata read(ObjectKind<?> kind, ObjectKey key) {
        String what = kind + " " + key;
        reads.add(what);
        rounds.countDown();
        RuntimeException failure = failures.get(what);
        if (failure != null) {
            throw failure;
        }
        CountDownLatch hold = held.get(what);
        if (hold != null) {
            try {
                hold.await(60, SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return new SecretBuilder()
                .withNewMetadata()
                .withResourceVersion("4")
                .endMetadata()
                .build();
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
