package dev.podcache.cli.demo;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The part of a kubelet without which {@code kubectl delete pod} would wait for ever: it takes a pod that is marked for
 * deletion away once it has ended, which here is at once.
 */
final class DemoKubelet implements AutoCloseable {

    private static final int LOOK_MILLIS = 300;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("demo-kubelet")
            .setDaemon(true)
            .build());
    private final Supplier<? extends Iterable<Pod>> pods;
    private final InMemoryCluster cluster;

    DemoKubelet(Supplier<? extends Iterable<Pod>> pods, InMemoryCluster cluster) {
        this.pods = pods;
        this.cluster = cluster;
    }

    void start() {
        timer.scheduleWithFixedDelay(this::endMarked, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void endMarked() {
        for (Pod pod : pods.get()) {
            if (PodEnd.isDeleted(pod)) {
                end(pod);
            }
        }
    }

    private void end(Pod pod) {
        try {
            cluster.deleteNow(pod);
        } catch (StatusException goneAlready) {
            // kubectl delete --force was faster
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
