package dev.podcache.kubelet.probe;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.object.PodKey;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Counts the checks of one probe by result and by what they took. Guarded by the lock of the pod's {@link PodProbes}. */
final class ProbeHistory {

    /** In milliseconds: the buckets of Prometheus' clients. */
    private static final long[] BOUNDS = {5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000};

    private static final double MILLIS = 1_000;

    private final long[] results = new long[ProbeCounts.RESULTS.size()];
    private final long[] buckets = new long[BOUNDS.length + 1];
    private long nanos;

    void add(ProbeOutcome.Verdict verdict, Duration took) {
        results[ProbeCounts.RESULTS.indexOf(ProbeCounts.result(verdict))]++;
        int bucket = 0;
        while (bucket < BOUNDS.length && took.toNanos() > TimeUnit.MILLISECONDS.toNanos(BOUNDS[bucket])) {
            bucket++;
        }
        buckets[bucket]++;
        nanos += took.toNanos();
    }

    Probes.ProbeCounted snapshot(PodKey pod, String container, ProbeKind kind) {
        ImmutableMap.Builder<String, Long> byResult = ImmutableMap.builder();
        for (int i = 0; i < results.length; i++) {
            byResult.put(ProbeCounts.RESULTS.get(i), results[i]);
        }
        ImmutableSortedMap.Builder<Double, Long> durations = ImmutableSortedMap.naturalOrder();
        long sum = 0;
        for (int i = 0; i < buckets.length; i++) {
            sum += buckets[i];
            durations.put(i < BOUNDS.length ? BOUNDS[i] / MILLIS : Double.POSITIVE_INFINITY, sum);
        }
        return new Probes.ProbeCounted(
                pod,
                container,
                kind,
                byResult.buildOrThrow(),
                durations.buildOrThrow(),
                nanos / (double) TimeUnit.SECONDS.toNanos(1));
    }
}
