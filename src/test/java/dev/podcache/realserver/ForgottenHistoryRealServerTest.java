package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.Podcache;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerMetrics;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches that lose their connection and, when they resume, find that the server no longer knows from where. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class ForgottenHistoryRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(ForgottenHistoryRealServerTest.class);
    private static final int OBJECTS = 50;

    /** The API server itself follows Secrets too. */
    private static final int OF_OTHERS = 5;

    private final RecordedWatches told = new RecordedWatches();

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        // on a busy machine, a server takes longer to start than a frozen connection is waited for
        leaks.allowWarnings("did not answer a ping");
    }

    @Test
    void serverRestarted_eachObjectIsListedOnce_andNothingStaleStays() {
        RealApiServer own = RealApiServer.restartable();
        resume(own, now -> {
            own.apiServer().kill();
            own.apiServer().start();
            return 0L;
        });
    }

    @Test
    void etcdCompacted_eachObjectIsListedOnce_andNothingStaleStays() {
        try (RealApiServer own = RealApiServer.start("--watch-cache=false")) {
            resume(own, now -> {
                long before = own.metrics().requests("LIST", "secrets");
                own.compact(now);
                return before;
            });
        }
    }

    /** Has history forgotten. */
    private interface Forgetting {

        /** Given the present version, answers how many lists the server has counted before. */
        long before(String now);
    }

    private void resume(RealApiServer own, Forgetting forgetting) {
        try (TestNamespace shop = new TestNamespace(own);
                TcpProxy proxy = shop.proxy();
                KubernetesClient client = TestNamespace.through(proxy, own.config());
                Podcache cache = Podcache.builder(client).metrics(told).build()) {
            List<String> names =
                    IntStream.range(0, OBJECTS).mapToObj(i -> "secret-" + i).toList();
            names.forEach(name -> shop.put(name, "old"));
            cache.registerPod(shop.pod("web", "", names.toArray(String[]::new)));
            await().until(() -> told.synced() == OBJECTS);

            // a server that takes long to start again must not be found over another connection meanwhile
            proxy.freezeNew();
            proxy.freeze();
            shop.put("secret-0", "new");
            shop.delete("secret-1");
            // so that even who hears of the two in the last moment resumes from what is forgotten
            shop.put("unrelated", "1");
            shop.put("unrelated", "2");
            long listsBefore = forgetting.before(shop.version());
            assertThat(get(cache, shop, "secret-0")).isEqualTo("old");
            long began = System.nanoTime();
            proxy.reset();
            proxy.thaw();

            await().until(() -> get(cache, shop, "secret-0").equals("new"));
            await().untilAsserted(() ->
                    assertThatThrownBy(() -> get(cache, shop, "secret-1")).isInstanceOf(NotFound.class));
            await().until(() -> names.stream()
                    .map(name -> cache.secrets().state(shop.name(), name).cacheState())
                    .noneMatch(CacheState.STALE::equals));
            log.info(
                    "in order again after {} ms",
                    Duration.ofNanos(System.nanoTime() - began).toMillis());
            assertThat(told.failed("secret-2", FailureReason.EXPIRED))
                    .as("told that history is gone")
                    .isTrue();
            // a watch from too old a version may be accepted first and refused by its first event
            await().untilAsserted(() -> assertQuiet(own.metrics(), listsBefore));
        }
    }

    private static void assertQuiet(ServerMetrics now, long listsBefore) {
        assertThat(now.requests("LIST", "secrets") - listsBefore)
                .as("lists")
                .isBetween((long) OBJECTS, (long) OBJECTS + OF_OTHERS);
        assertThat(now.openWatches("secrets")).as("watches").isBetween((long) OBJECTS, (long) OBJECTS + OF_OTHERS);
        // those that were cut, and those that were told to list
        assertThat(now.requests("WATCH", "secrets")).as("watches that ended").isLessThan(2 * OBJECTS + OF_OTHERS);
    }

    private static String get(Podcache cache, TestNamespace shop, String secret) {
        return Secrets.value(cache.secrets().getObject(shop.name(), secret));
    }
}
