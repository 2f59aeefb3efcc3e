package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.Lists;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.Verb;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many requests strategy CACHE makes where it matters to the API server: exactly, in hand-driven time. */
@Slow
@ExtendWith(NoLeaks.class)
class RequestCountsTest {

    private static final int OBJECTS = 550;
    private static final int TTL_SECONDS = 60;
    private static final int HOUR_SECONDS = 3_600;
    private static final int MAX_STALENESS_SECONDS = 60;

    private TtlFixture f = new TtlFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void get_aThousandThreadsAndOneColdObject_makeOneRequest() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            gets.add(f.getBehind(DB));
        }
        f.timekeeper.awaitWaiters(1_000);

        held.release();

        assertThat(gets).allSatisfy(get -> assertThat(broughtBy(get)).isEqualTo("v1"));
        f.requireGets(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100, 1_000, 10_000})
    void get_anyNumberOfObjects_makesARequestPerObjectAndMinute(int objects) {
        List<ObjectKey> keys = created(objects, false);
        int minutes = 10;
        for (int half = 0; half < 2 * minutes; half++) {
            readAll(keys);
            f.timekeeper.advance(Duration.ofSeconds(TTL_SECONDS / 2));
        }

        assertThat(f.server.count(Verb.GET)).isEqualTo(objects * minutes);
    }

    @Test
    void get_firstReadsSpreadOverTheTtl_requestsStaySpread() {
        List<ObjectKey> keys = created(OBJECTS, false);
        int most = 0;
        for (int second = 0; second < HOUR_SECONDS; second++) {
            int before = f.server.count(Verb.GET);
            // pods start one after the other during the first minute, and then read on
            int started = Math.min(OBJECTS, (second + 1) * OBJECTS / TTL_SECONDS);
            readAll(keys.subList(0, started));
            most = Math.max(most, f.server.count(Verb.GET) - before);
            f.timekeeper.advance(Duration.ofSeconds(1));
        }

        assertThat(most).isEqualTo((OBJECTS + TTL_SECONDS - 1) / TTL_SECONDS);
    }

    @Test
    void get_firstReadsAtOnce_requestsComeAtOnceOnceAMinuteForEver() {
        List<Integer> perSecond = anHourOfReadsThatBeginAtOnce();

        assertThat(perSecond).containsOnly(0, OBJECTS);
        assertThat(f.server.count(Verb.GET)).isEqualTo(OBJECTS * HOUR_SECONDS / TTL_SECONDS);
    }

    /*
     * Each refresh is 60 to 90 s after the one before (and up to a second more, as each object is read once a second),
     * 75 s on average: 7.3 a second if they are spread evenly. The first round comes in 30 s, 18 a second. Each round
     * adds 30 s to the time it comes in, so after ten minutes, eight rounds, it is spread over all of the 75 s. The
     * bounds are three times what is expected of the first round, and four times the mean of the later ones: that many,
     * of independent draws, come once in millions of runs, or less.
     */
    @Test
    void get_firstReadsAtOnceWithBackgroundRefresh_requestsAreFewerAndDriftApart() {
        f.close();
        f = TtlFixture.refreshingBehind(Duration.ofSeconds(MAX_STALENESS_SECONDS), PodcacheMetrics.NONE);
        List<Integer> perSecond = anHourOfReadsThatBeginAtOnce();

        int latest = TTL_SECONDS + MAX_STALENESS_SECONDS / 2 + 1;
        assertThat(f.server.count(Verb.GET))
                .isBetween(OBJECTS * (HOUR_SECONDS / latest), OBJECTS * HOUR_SECONDS / TTL_SECONDS);
        assertThat(perSecond.subList(1, TTL_SECONDS)).containsOnly(0);
        int firstRound = OBJECTS / (MAX_STALENESS_SECONDS / 2);
        assertThat(perSecond.subList(TTL_SECONDS, HOUR_SECONDS)).allMatch(requests -> requests <= 3 * firstRound);
        int mean = OBJECTS / (TTL_SECONDS + MAX_STALENESS_SECONDS / 4);
        assertThat(perSecond.subList(600, HOUR_SECONDS)).allMatch(requests -> requests <= 4 * mean);
    }

    private List<Integer> anHourOfReadsThatBeginAtOnce() {
        List<ObjectKey> keys = created(OBJECTS, false);
        List<Integer> perSecond = new ArrayList<>();
        for (int second = 0; second < HOUR_SECONDS; second++) {
            int before = f.server.count(Verb.GET);
            readAll(keys);
            perSecond.add(f.server.count(Verb.GET) - before);
            f.timekeeper.advance(Duration.ofSeconds(1));
        }
        return perSecond;
    }

    @Test
    void get_anHourOfImmutableObjects_makesOneRequestEach() {
        List<ObjectKey> keys = created(OBJECTS, true);
        for (int second = 0; second < HOUR_SECONDS; second += TTL_SECONDS) {
            readAll(keys);
            f.timekeeper.advance(Duration.ofSeconds(TTL_SECONDS));
        }

        assertThat(f.server.count(Verb.GET)).isEqualTo(OBJECTS);
    }

    @Test
    void get_aHundredAtOnceOfTenObjectsWithoutATtl_makeTwoRequestsEach() throws Exception {
        f.ttl.set(Duration.ZERO);
        List<ObjectKey> keys = created(10, false);
        List<HeldRequests> held = keys.stream().map(f.server::holdNext).toList();
        List<CompletableFuture<String>> gets = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            gets.add(f.getBehind(keys.get(i % 10)));
        }
        f.timekeeper.awaitWaiters(100);
        int together = f.server.count(Verb.GET);
        held.forEach(HeldRequests::release);
        gets.forEach(TtlFixture::broughtBy);

        assertThat(together).as("requests under way at once").isEqualTo(10);
        // one for the first of each object; one for the others, who must not be answered by a
        // request that began before them
        assertThat(f.server.count(Verb.GET)).isEqualTo(20);
    }

    @Test
    void registerPod_unchangedPodsEachMinuteForAnHour_makesNoRequest() {
        f.ttl.set(Duration.ofHours(2));
        Manager<Secret> manager = Managers.caching(f.store, PodReferences::secretKeys);
        List<ObjectKey> keys = created(OBJECTS, false);
        List<Pod> pods = pods(keys);
        pods.forEach(manager::registerPod);
        readAll(keys);
        f.server.clearActions();

        for (int minute = 0; minute < 60; minute++) {
            f.timekeeper.advance(Duration.ofMinutes(1));
            pods.forEach(manager::registerPod);
            readAll(keys);
        }

        assertThat(f.server.actions()).isEmpty();
    }

    /** Five Secrets each. */
    private static List<Pod> pods(List<ObjectKey> keys) {
        List<Pod> pods = new ArrayList<>();
        for (List<ObjectKey> five : Lists.partition(keys, 5)) {
            String name = "pod-" + pods.size();
            List<String> names = five.stream().map(ObjectKey::name).toList();
            pods.add(Pods.at(Pods.withSecrets("default", name, "uid-" + name, names), "1"));
        }
        return pods;
    }

    private List<ObjectKey> created(int count, boolean immutable) {
        List<ObjectKey> keys = IntStream.range(0, count)
                .mapToObj(i -> ObjectKey.of("default", "object-" + i))
                .toList();
        for (ObjectKey key : keys) {
            f.server.cluster().create(immutable ? Secrets.immutable(key, "v1") : Secrets.of(key, "v1"));
            f.store.addReference(key, POD);
        }
        return keys;
    }

    private void readAll(List<ObjectKey> keys) {
        keys.forEach(key -> f.store.get(key.namespace(), key.name()));
    }
}
