package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.testing.Effort;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a watch brings is what was written: long, in any script, and thousands of times in a row. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class WatchPayloadsRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(WatchPayloadsRealServerTest.class);
    private static final String TEXT = "héllo 日本語 🎉";
    private static final int MEGABYTE_OF_TEXT = 1_000_000 / 23;
    private static final int WRITERS = 4;
    private static final int UPDATES_EACH = Effort.NIGHTLY ? 2_500 : 500;

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());
    private final KubernetesClient client = RealApiServer.shared().client();
    private final Podcache cache =
            Podcache.builder(client).firstSyncTimeout(Duration.ofSeconds(60)).build();

    @AfterEach
    void close() {
        cache.close();
        client.close();
        shop.close();
    }

    @Test
    void megabyteOfMultiByteText_updated_arrivesWhole() {
        String first = (TEXT + "1").repeat(MEGABYTE_OF_TEXT);
        String second = (TEXT + "2").repeat(MEGABYTE_OF_TEXT);
        shop.put("big", first);
        cache.registerPod(shop.pod("web", "", "big"));
        assertThat(get("big").equals(first)).as("listed whole").isTrue();

        shop.put("big", second);

        await().until(() -> !get("big").equals(first));
        assertThat(get("big").equals(second)).as("told whole").isTrue();
    }

    @Test
    void thousandsOfUpdates_areSeenInOrder_andTheLastIsExact() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            names.add("churned-" + i);
            shop.put(names.get(i), value(0));
        }
        cache.registerPod(shop.pod("web", "", names.toArray(String[]::new)));
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            long began = System.nanoTime();
            List<Future<?>> writers = new ArrayList<>();
            names.forEach(name -> writers.add(threads.submit(() -> write(name))));
            PayloadReader reader = new PayloadReader(names);
            await().pollInterval(Duration.ofMillis(1))
                    .atMost(Duration.ofMinutes(4))
                    .until(reader::look);
            for (Future<?> writer : writers) {
                writer.get();
            }
            log.info(
                    "{} updates in {} ms, {} of them seen by polling",
                    WRITERS * UPDATES_EACH,
                    Duration.ofNanos(System.nanoTime() - began).toMillis(),
                    reader.seen);
        } finally {
            threads.shutdownNow();
        }
    }

    private void write(String name) {
        for (int i = 1; i <= UPDATES_EACH; i++) {
            shop.admin().resource(Secrets.of(shop.name(), name, value(i))).update();
        }
    }

    /** Looks at what several objects are, time and again. */
    private final class PayloadReader {

        private final List<String> names;
        private final int[] last;
        private int seen;

        PayloadReader(List<String> names) {
            this.names = names;
            this.last = new int[names.size()];
        }

        /** Whether each object has its last value. */
        boolean look() {
            boolean done = true;
            for (int i = 0; i < last.length; i++) {
                String value = get(names.get(i));
                int number = Integer.parseInt(value.substring(0, value.indexOf(' ')));
                assertThat(value).isEqualTo(value(number));
                assertThat(number).as("order").isGreaterThanOrEqualTo(last[i]);
                seen += number > last[i] ? 1 : 0;
                last[i] = number;
                done &= number == UPDATES_EACH;
            }
            return done;
        }
    }

    /** Of a length that changes, so that a mixture of two would show. */
    private static String value(int number) {
        return number + " " + TEXT.repeat(number % 50);
    }

    private String get(String secret) {
        return Secrets.value(cache.secrets().getObject(shop.name(), secret));
    }
}
