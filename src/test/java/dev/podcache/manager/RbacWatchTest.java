package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.Referrer;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Roles and bindings that the test changes, reviews that it answers, in time that it drives: the races. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RbacWatchTest {

    private static final ObjectKey OTHER = ObjectKey.of("shop", "other");
    private static final Duration GATHER = Duration.ofMillis(100);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final OnBehalfFixture fixture = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
    private final Map<String, ManualListerWatcher<GenericKubernetesResource>> servers = new LinkedHashMap<>();
    private final RbacWatch watch =
            new RbacWatch(this::server, new Recovery(time), fixture.cached, fixture.managers, time);
    private final Referrer web = owner("a", WEB);

    private ManualListerWatcher<GenericKubernetesResource> server(ObjectKind<GenericKubernetesResource> kind) {
        return servers.computeIfAbsent(kind.name(), first -> new ManualListerWatcher<>());
    }

    @AfterEach
    void close() {
        watch.close();
        fixture.cached.close();
    }

    /** Starts it, with lists that are answered. */
    private void start() {
        fixture.create(TLS, "v1");
        watch.start();
        servers.values().forEach(RbacWatchTest::list);
    }

    private static void list(ManualListerWatcher<GenericKubernetesResource> server) {
        server.answer("5", List.of());
        server.watch().open();
    }

    private void changed(String kind, String namespace) {
        GenericKubernetesResource object = new GenericKubernetesResource();
        object.setMetadata(new ObjectMeta());
        object.getMetadata().setName("x");
        object.getMetadata().setNamespace(namespace.isEmpty() ? null : namespace);
        servers.get(kind).watch().upsert(object, "7");
    }

    private void registerAllowed() {
        fixture.register(web, TLS);
        subjectsReview().answer(true);
        assertThat(fixture.read(web)).isEqualTo("v1");
    }

    private ManualReviews.Call subjectsReview() {
        return fixture.reviews.open().stream()
                .filter(call -> call.subject() != null)
                .findFirst()
                .orElseThrow();
    }

    private List<ManualReviews.Call> ownReviews() {
        return fixture.reviews.open().stream()
                .filter(call -> call.subject() == null)
                .toList();
    }

    @Test
    void reviews_areNotSentBeforeTheFirstListsAreAnswered() {
        watch.start();
        fixture.register(web, TLS);
        assertThat(fixture.reviews.count()).isZero();

        servers.values().forEach(RbacWatchTest::list);

        assertThat(fixture.reviews.count()).isOne();
        time.advance(GATHER);
        assertThat(fixture.reviews.count()).isOne();
    }

    @Test
    void firstLists_takeLong_moreReviewsAreInFlight() {
        watch.start();
        for (int i = 0; i < 300; i++) {
            fixture.register(owner("u" + i, WEB), ObjectKey.of("shop", "s" + i));
        }
        time.advance(Duration.ofMillis(500));

        servers.values().forEach(RbacWatchTest::list);

        assertThat(fixture.reviews.open()).hasSize(300);
    }

    @Test
    @ExpectedWarnings("are not watched")
    void firstLists_oneFails_thatTheOthersTookLongSaysNothing() {
        watch.start();
        for (int i = 0; i < 300; i++) {
            fixture.register(owner("u" + i, WEB), ObjectKey.of("shop", "s" + i));
        }
        time.advance(Duration.ofMillis(500));

        servers.get("Role")
                .fail(new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "LIST roles: busy", null));
        servers.values().stream().skip(1).forEach(RbacWatchTest::list);

        assertThat(fixture.reviews.open()).hasSize(256);
    }

    @Test
    void reviews_areSentAfterTwoSecondsWithoutLists() {
        watch.start();
        fixture.register(web, TLS);
        time.advance(Duration.ofSeconds(2));
        assertThat(fixture.reviews.count()).isOne();
        fixture.reviews.next().answer(true);

        // what it brings may be newer than that answer
        servers.values().forEach(RbacWatchTest::list);
        time.advance(GATHER);

        assertThat(subjectsReview().access().name()).isEqualTo("tls");
    }

    @Test
    @ExpectedWarnings("are not watched")
    void reviews_areSentIfTheIdentityMayNotWatch() {
        watch.start();
        fixture.register(web, TLS);

        servers.values()
                .forEach(server -> server.fail(
                        new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST roles: not allowed", null)));

        assertThat(fixture.reviews.count()).isOne();
    }

    @Test
    void revoked_isDeniedAfterOneReview() {
        start();
        registerAllowed();

        changed("RoleBinding", "shop");
        time.advance(GATHER);
        subjectsReview().answer(false);

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(web));
    }

    @Test
    void clusterRole_concernsAllNamespaces_aRoleItsOwn() {
        start();
        registerAllowed();

        changed("Role", "other");
        time.advance(GATHER);
        assertThat(fixture.reviews.open()).isEmpty();
        changed("ClusterRole", "");
        time.advance(GATHER);

        assertThat(subjectsReview().subject()).isEqualTo(WEB);
    }

    @Test
    void reviewThatBeganBeforeTheChange_doesNotCount() {
        start();
        fixture.register(web, TLS);
        ManualReviews.Call before = subjectsReview();
        changed("RoleBinding", "shop");

        before.answer(true);

        assertThat(fixture.secrets.peek(web, "shop", "tls")).isEmpty();
        subjectsReview().answer(false);
        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(web));
    }

    @Test
    void authorizerThatLagsThreeSeconds_isNoticedWithinFour() {
        start();
        registerAllowed();
        changed("RoleBinding", "shop");
        time.advance(GATHER);
        for (int second = 0; second < 3; second++) {
            subjectsReview().answer(true);
            time.advance(Duration.ofSeconds(1));
        }

        subjectsReview().answer(false);

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(web));
    }

    @Test
    void authorizerThatNeverAnswersAgain_isServedElevenSecondsAtMost() {
        start();
        registerAllowed();
        changed("RoleBinding", "shop");
        time.advance(Duration.ofSeconds(11).minusNanos(1));
        assertThat(fixture.read(web)).isEqualTo("v1");

        time.advance(Duration.ofNanos(1));

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(web));
    }

    @Test
    void ownAccess_isReviewedForEachWatchThatTheChangeMayConcern() {
        start();
        registerAllowed();

        changed("RoleBinding", "other");
        time.advance(GATHER);
        assertThat(ownReviews()).isEmpty();
        changed("RoleBinding", "shop");
        time.advance(GATHER);

        assertThat(ownReviews()).singleElement().satisfies(call -> {
            assertThat(call.access().verb()).isEqualTo("watch");
            assertThat(call.access().name()).isEqualTo("tls");
        });
    }

    @Test
    void ownAccess_manyWatchesOfANamespace_oneReviewDoesIfAllOfItMayBeWatched() {
        start();
        fixture.create(OTHER, "v1");
        fixture.register(owner("plain"), TLS, OTHER);
        changed("RoleBinding", "shop");
        time.advance(GATHER);
        ManualReviews.Call ofAll = ownReviews().get(0);
        assertThat(ownReviews()).hasSize(1);
        assertThat(ofAll.access().name()).isEmpty();

        ofAll.answer(true);

        assertThat(ownReviews()).isEmpty();
        assertThat(fixture.server.isWatched(TLS)).isTrue();
    }

    @Test
    @ExpectedWarnings("watch of Secret shop/other failed")
    void ownAccess_manyWatchesOfANamespace_eachIsReviewedIfNotAllOfItMayBeWatched() {
        start();
        fixture.create(OTHER, "v1");
        fixture.register(owner("plain"), TLS, OTHER);
        changed("RoleBinding", "shop");
        time.advance(GATHER);
        fixture.server.failNext(
                1000, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST: not allowed", null));

        ownReviews().get(0).answer(false);
        List<ManualReviews.Call> ofEach = ownReviews();
        ofEach.forEach(call -> call.answer(call.access().name().equals("tls")));

        assertThat(ofEach).hasSize(2);
        assertThat(fixture.server.isWatched(TLS)).isTrue();
        assertThat(fixture.server.isWatched(OTHER)).isFalse();
    }

    @Test
    void ownAccess_thatTheAuthorizerTakesLate_isReviewedAgain() {
        start();
        registerAllowed();
        changed("Role", "shop");
        int reviews = 0;
        for (int tenths = 0; tenths < 110; tenths++) {
            time.advance(GATHER);
            for (ManualReviews.Call call : ownReviews()) {
                reviews++;
                call.answer(true);
            }
        }

        assertThat(reviews).isEqualTo(4);
    }

    @Test
    @ExpectedWarnings("watch of Secret shop/tls failed")
    void ownAccess_reviewsFail_isReviewedOnUntilOneIsAnswered() {
        start();
        fixture.register(owner("plain"), TLS);
        changed("Role", "shop");
        int failed = 0;
        for (int tenths = 0; tenths < 600; tenths++) {
            time.advance(GATHER);
            for (ManualReviews.Call call : ownReviews()) {
                failed++;
                call.fail(FailureReason.TIMEOUT, null);
            }
        }
        assertThat(failed).isGreaterThan(7);
        assertThat(fixture.server.isWatched(TLS)).isTrue();
        fixture.server.failNext(
                1000, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST: not allowed", null));

        for (int tenths = 0; tenths < 200; tenths++) {
            time.advance(GATHER);
            ownReviews().forEach(call -> call.answer(false));
        }

        assertThat(fixture.server.isWatched(TLS)).isFalse();
    }

    @Test
    @ExpectedWarnings("watch of Secret shop/tls failed")
    void ownAccessRevoked_closesTheWatchAndIsShownAsForbidden() {
        start();
        fixture.register(owner("plain"), TLS);
        assertThat(fixture.server.isWatched(TLS)).isTrue();
        fixture.server.failNext(
                1000, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST: not allowed", null));
        changed("ClusterRoleBinding", "");
        time.advance(GATHER);

        ownReviews().get(0).answer(false);

        assertThat(fixture.server.isWatched(TLS)).isFalse();
        assertThat(fixture.secrets.state("shop", "tls").cacheState()).isEqualTo(CacheState.FORBIDDEN);
        assertThat(fixture.secrets.state("shop", "tls").freshness()).contains("access was revoked");
        assertThat(fixture.read(owner("plain"))).isEqualTo("v1");

        fixture.server.clearFailures();
        time.advance(Duration.ofSeconds(40));
        assertThat(fixture.secrets.state("shop", "tls").cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void changesWithoutEnd_doNotPutOffTheReviews() {
        start();
        registerAllowed();

        for (int i = 0; i < 20; i++) {
            changed("RoleBinding", "shop");
            time.advance(Duration.ofMillis(10));
        }

        assertThat(ownReviews()).isNotEmpty();
        assertThat(subjectsReview().access().name()).isEqualTo("tls");
    }

    @Test
    @ExpectedWarnings("watch of Secret shop/tls failed")
    void changesWithoutEnd_ownAccessIsReviewedAtAPace_andClosesWhatIsRefused() {
        start();
        registerAllowed();
        int asked = 0;
        for (int i = 0; i < 6_000; i++) {
            changed("RoleBinding", i % 9 == 0 ? "" : "shop");
            time.advance(Duration.ofMillis(10));
            for (ManualReviews.Call call : fixture.reviews.open()) {
                asked += call.subject() == null ? 1 : 0;
                call.answer(true);
            }
        }
        assertThat(asked).isBetween(30, 123);

        for (int i = 0; i < 300; i++) {
            changed("RoleBinding", "shop");
            time.advance(Duration.ofMillis(10));
            if (!ownReviews().isEmpty()) {
                fixture.server.failNext(
                        1000, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST: not allowed", null));
            }
            ownReviews().forEach(call -> call.answer(false));
        }
        assertThat(fixture.server.isWatched(TLS)).isFalse();
    }

    @Test
    void close_leavesNoTimer() {
        start();
        changed("ClusterRole", "");

        watch.close();
        fixture.cached.close();

        assertThat(time.scheduledTasks()).isZero();
        assertThat(servers.values()).allMatch(server -> server.watch().closed());
    }
}
