package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuthorizationTest {

    private static final KubeletRequest METRICS = Requested.get("/metrics");

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final FakeReviews reviews = new FakeReviews();
    private final Authorization authorization = new Authorization(reviews, "worker-1", clock);

    @ParameterizedTest
    @CsvSource({
        "GET, /stats/summary, get, stats",
        "POST, /stats/summary, create, stats",
        "GET, /metrics, get, metrics",
        "GET, /metrics/resource, get, metrics",
        "GET, /metrics/cadvisor, get, metrics",
        "GET, /metrics/probes, get, metrics",
        "GET, /logs/kubelet.log, get, log",
        "GET, /containerLogs/shop/web/main, get, proxy",
        "GET, /pods, get, pods proxy",
        "GET, /pods/, get, pods proxy",
        "GET, /runningpods/, get, pods proxy",
        "GET, /healthz, get, healthz proxy",
        "PUT, /x, update, proxy",
        "PATCH, /x, patch, proxy",
        "DELETE, /x, delete, proxy",
        "HEAD, /x, '', proxy",
        "OPTIONS, /x, '', proxy",
        "get, /x, '', proxy",
        "HEAD, /exec/shop/web/main, create, proxy",
        "GET, /, get, proxy",
        "POST, /exec/shop/web/main, create, proxy",
        "GET, /exec/shop/web/main, create, proxy",
        "GET, /attach/shop/web/main, create, proxy",
        "GET, /portForward/shop/web, create, proxy",
        "GET, /metricsfake, get, proxy",
        "GET, /statsfake, get, proxy",
        "GET, /stats/../exec/shop/web/main, get, stats",
        "GET, /%73tats/summary, get, proxy"
    })
    void accesses_areAsUpstreamChoosesThem(String method, String path, String verb, String subresources) {
        assertThat(authorization.accesses(Requested.of(method, path, null, List.of())))
                .containsExactlyElementsOf(List.of(subresources.split(" ")).stream()
                        .map(subresource -> new ResourceAccess(verb, "nodes", subresource, "worker-1"))
                        .toList());
    }

    @Test
    void allowed_isReviewedAgainAfterFiveMinutes() {
        assertThat(isAllowed(METRICS)).isTrue();
        reviews.allowed = (user, access) -> false;
        clock.advance(Duration.ofMinutes(4).minusNanos(1));
        assertThat(isAllowed(METRICS)).isTrue();

        clock.advance(Duration.ofMinutes(1).plusNanos(1));

        assertThat(isAllowed(METRICS)).isFalse();
        assertThat(reviews.accesses).hasSize(2);
    }

    @Test
    void denied_isReviewedAgainAfter30Seconds() {
        reviews.allowed = (user, access) -> false;
        assertThat(isAllowed(METRICS)).isFalse();
        reviews.allowed = (user, access) -> true;
        clock.advance(Duration.ofSeconds(24).minusNanos(1));
        assertThat(isAllowed(METRICS)).isFalse();

        clock.advance(Duration.ofSeconds(6).plusNanos(1));

        assertThat(isAllowed(METRICS)).isTrue();
    }

    @Test
    void failure_isNotRemembered() {
        reviews.failing = true;
        assertThat(authorization.isAllowed(FakeReviews.READER, METRICS)).isCompletedExceptionally();

        reviews.failing = false;

        assertThat(isAllowed(METRICS)).isTrue();
    }

    @Test
    void methods_thatAreNone_areReviewedOnce() {
        reviews.allowed = (user, access) -> false;

        for (int i = 0; i < 100; i++) {
            assertThat(isAllowed(Requested.of("M" + i, "/metrics", null, List.of())))
                    .isFalse();
        }

        assertThat(reviews.accesses).hasSize(1);
    }

    @Test
    void pods_proxyIsEnough() {
        reviews.allowed = (user, access) -> access.subresource().equals("proxy");

        assertThat(isAllowed(Requested.get("/pods"))).isTrue();
        assertThat(reviews.accesses).extracting(ResourceAccess::subresource).containsExactly("pods", "proxy");
    }

    @Test
    void users_ofOneNameInOtherGroups_areReviewedEach() {
        reviews.allowed = (user, access) -> user.groups().contains("readers");

        assertThat(isAllowed(METRICS)).isTrue();
        assertThat(authorization
                        .isAllowed(Subject.user("reader", List.of(), "u-1", Map.of()), METRICS)
                        .join())
                .isFalse();
    }

    private boolean isAllowed(KubeletRequest request) {
        return authorization.isAllowed(FakeReviews.READER, request).join();
    }
}
