package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.podsync.PodThreads;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReportedNodeTest {

    @Test
    void threads_manyPodsTakeTheirTimeToStop_othersStopAndStart() throws Exception {
        PodThreads threads = ReportedNode.threads();
        CountDownLatch stopped = new CountDownLatch(1);
        try {
            for (int pod = 0; pod < 20; pod++) {
                threads.ending().submit(() -> stopped.await(1, TimeUnit.MINUTES));
            }

            assertThat(threads.ending().submit(() -> "stopped").get(60, TimeUnit.SECONDS))
                    .isEqualTo("stopped");
            assertThat(threads.syncing().submit(() -> "started").get(60, TimeUnit.SECONDS))
                    .isEqualTo("started");
        } finally {
            stopped.countDown();
            threads.shutdown();
        }
    }
}
