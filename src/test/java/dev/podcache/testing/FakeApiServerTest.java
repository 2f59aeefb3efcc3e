package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FakeApiServerTest {

    private static final ObjectKey KEY = ObjectKey.of("shop", "db");
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer api = new FakeApiServer(time);
    private final List<WatchEvent<Secret>> events = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        api.close();
        assertThat(api.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void get_storedObject_answersAtOnce() {
        Secret stored = create("a");

        Fetched<Secret> fetched = get(ReadSource.QUORUM).join();

        assertThat(fetched.object().getData()).containsEntry("key", "aaaa");
        assertThat(fetched.resourceVersion()).isEqualTo(stored.getMetadata().getResourceVersion());
        assertThat(fetched.encodedBytes()).isGreaterThan(100);
    }

    @Test
    void get_absentObject_failsNotFound() {
        assertThat(failureOf(get(ReadSource.QUORUM)).reason()).isEqualTo(FailureReason.NOT_FOUND);
    }

    @Test
    void get_whileTheWatchCacheIsHeld_cachedReadSeesThePast() {
        create("a");
        api.cluster().holdWatchCache();
        update("b");

        assertThat(get(ReadSource.CACHE).join().object().getData()).containsEntry("key", "aaaa");
        assertThat(get(ReadSource.QUORUM).join().object().getData()).containsEntry("key", "bbbb");
    }

    @Test
    void actions_afterCalls_tellThemInOrder() {
        create("a");
        get(ReadSource.CACHE);
        secrets().list(TIMEOUT);

        assertThat(api.actions())
                .containsExactly(
                        new FakeApiServer.Action(Verb.GET, ObjectKind.SECRET, KEY, ReadSource.CACHE),
                        new FakeApiServer.Action(Verb.LIST, ObjectKind.SECRET, KEY, null));
        assertThat(api.gets(KEY)).isEqualTo(1);
        assertThat(api.count(Verb.LIST)).isEqualTo(1);
    }

    @Test
    void hold_thenChanged_answersTheStateOfTheArrival() throws InterruptedException {
        create("a");
        HeldRequests held = api.hold(KEY);
        CompletableFuture<Fetched<Secret>> answer = get(ReadSource.QUORUM);
        held.awaitArrived();
        update("b");
        assertThat(answer).isNotDone();

        held.release();

        assertThat(answer.join().object().getData()).containsEntry("key", "aaaa");
        assertThat(get(ReadSource.QUORUM).join().object().getData()).containsEntry("key", "bbbb");
    }

    @Test
    void holdBeforeReading_thenChanged_answersTheStateOfTheRelease() {
        create("a");
        HeldRequests held = api.holdBeforeReading(KEY);
        CompletableFuture<Fetched<Secret>> answer = get(ReadSource.QUORUM);
        update("b");

        held.release();

        assertThat(answer.join().object().getData()).containsEntry("key", "bbbb");
    }

    @Test
    void hold_longerThanTheTimeout_failsTheCall() {
        create("a");
        HeldRequests held = api.hold(KEY);
        CompletableFuture<Fetched<Secret>> answer = get(ReadSource.QUORUM);

        time.advance(TIMEOUT);

        assertThat(failureOf(answer).reason()).isEqualTo(FailureReason.TIMEOUT);
        held.release();
    }

    @Test
    void failNext_oneCall_failsItWithTheseFactsAndNoOther() {
        create("a");
        ApiServerException facts =
                new ApiServerException(FailureReason.THROTTLED, 429, Duration.ofSeconds(2), "GET: too many", null);
        api.failNext(1, facts);

        assertThat(failureOf(get(ReadSource.QUORUM))).isSameAs(facts);
        assertThat(get(ReadSource.QUORUM)).isCompleted();
    }

    @Test
    void refuse_untilSwitchedOff_isUnavailable() throws Exception {
        create("a");
        try (var outage = api.faults().refuse(RequestPattern.any())) {
            assertThat(outage).isNotNull();
            assertThat(failureOf(get(ReadSource.QUORUM)).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        }
        assertThat(get(ReadSource.QUORUM)).isCompleted();
    }

    @Test
    void faults_statusWithRetryAfter_reachesTheCaller() {
        api.faults().failNext(1, StatusException.tooManyRequests(7), RequestPattern.any());

        ApiServerException failure = failureOf(get(ReadSource.QUORUM));

        assertThat(failure.reason()).isEqualTo(FailureReason.THROTTLED);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void forbidCallsOnThisThread_callThatIsSwallowed_stillFailsTheTest() {
        assertThatThrownBy(() -> api.forbidCallsOnThisThread(() -> {
                    try {
                        get(ReadSource.QUORUM);
                    } catch (AssertionError swallowed) {
                        assertThat(swallowed).hasMessageContaining("must not call");
                    }
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("shop/db");
    }

    @Test
    void watch_changesAfterTheList_areToldInOrder() {
        create("a");
        Listed<Secret> listed = secrets().list(TIMEOUT).join();
        assertThat(listed.items()).hasSize(1);
        WatchHandle watch = watchFrom(listed.resourceVersion());

        Secret updated = update("b");
        api.cluster().delete(updated);

        assertThat(events).hasSize(3);
        assertThat(events.get(0)).isInstanceOf(WatchEvent.Opened.class);
        assertThat(events.get(1))
                .isInstanceOfSatisfying(
                        WatchEvent.Upserted.class,
                        event -> assertThat(event.fetched().resourceVersion())
                                .isEqualTo(updated.getMetadata().getResourceVersion()));
        assertThat(events.get(2)).isInstanceOf(WatchEvent.Deleted.class);
        assertThat(api.openWatches()).isEqualTo(1);
        watch.close();
        assertThat(api.openWatches()).isZero();
    }

    @Test
    void watch_fromAForgottenVersion_endsExpired() {
        create("a");
        update("b");
        api.forgetHistory();

        watchFrom("2");

        assertThat(events).hasSize(2);
        assertThat(events.get(1))
                .isInstanceOfSatisfying(
                        WatchEvent.Ended.class,
                        ended -> assertThat(ended.failure())
                                .extracting(ApiServerException::reason)
                                .isEqualTo(FailureReason.EXPIRED));
    }

    @Test
    void dropNextEvent_thenTwoChanges_losesTheFirst() {
        create("a");
        watchFrom(api.cluster().resourceVersion());
        api.dropNextEvent();

        update("b");
        update("c");

        assertThat(events).hasSize(2);
        assertThat(events.get(1))
                .isInstanceOfSatisfying(
                        WatchEvent.Upserted.class,
                        event -> assertThat(((Secret) event.fetched().object()).getData())
                                .containsEntry("key", "cccc"));
    }

    @Test
    void resetWatches_openWatch_endsUnavailable() {
        watchFrom(api.cluster().resourceVersion());

        api.resetWatches();

        assertThat(events.get(1))
                .isInstanceOfSatisfying(
                        WatchEvent.Ended.class,
                        ended -> assertThat(ended.failure())
                                .extracting(ApiServerException::reason)
                                .isEqualTo(FailureReason.UNAVAILABLE));
        assertThat(api.openWatches()).isZero();
    }

    @Test
    void watch_serverTimeout_endsInGoodOrder() {
        secrets().watch(api.cluster().resourceVersion(), Duration.ofMinutes(5), events::add);

        time.advance(Duration.ofMinutes(5));

        assertThat(events).hasAtLeastOneElementOfType(WatchEvent.Bookmark.class);
        assertThat(events.get(events.size() - 1)).isEqualTo(new WatchEvent.Ended<Secret>(null));
    }

    @Test
    void watch_closed_isToldNothingMore() {
        create("a");
        WatchHandle watch = watchFrom(api.cluster().resourceVersion());

        watch.close();
        update("b");

        assertThat(events).hasSize(1);
    }

    private ListerWatcher<Secret> secrets() {
        return api.listerWatcher(ObjectKind.SECRET, "shop", "metadata.name=db");
    }

    private WatchHandle watchFrom(String resourceVersion) {
        return secrets().watch(resourceVersion, Duration.ofMinutes(5), events::add);
    }

    private CompletableFuture<Fetched<Secret>> get(ReadSource freshness) {
        return api.getter(ObjectKind.SECRET).get(KEY, freshness, TIMEOUT);
    }

    private Secret create(String value) {
        return api.cluster().create(secret(value));
    }

    private Secret update(String value) {
        return api.cluster().update(secret(value));
    }

    private static Secret secret(String value) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("db")
                .endMetadata()
                .addToData("key", value + value + value + value)
                .build();
    }

    private static ApiServerException failureOf(CompletableFuture<?> answer) {
        assertThat(answer).isCompletedExceptionally();
        return (ApiServerException) answer.handle((value, failure) -> failure).join();
    }
}
