package dev.podcache.kubelet.probe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.probe.ProbeOutcome.Verdict;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts checks by probe and result, with the results of the kubelet's {@code prober_probe_total}. Thread-safe. */
final class ProbeCounts {

    private final ImmutableMap<ProbeKind, ProbeResults> counts = Arrays.stream(ProbeKind.values())
            .collect(ImmutableMap.toImmutableMap(kind -> kind, kind -> new ProbeResults()));

    /** The counts of one kind. */
    private static final class ProbeResults {
        final LongAdder successful = new LongAdder();
        final LongAdder failed = new LongAdder();
        final LongAdder unknown = new LongAdder();
    }

    void add(ProbeKind kind, Verdict verdict) {
        ProbeResults results = Objects.requireNonNull(counts.get(kind));
        LongAdder result = switch (verdict) {
            case SUCCESS, WARNING -> results.successful;
            case FAILURE -> results.failed;
            case ERROR -> results.unknown;
        };
        result.increment();
    }

    /** Returns the counts, zeros too; unmodifiable. */
    Map<ProbeKind, Map<String, Long>> all() {
        return Arrays.stream(ProbeKind.values()).collect(ImmutableMap.toImmutableMap(kind -> kind, this::of));
    }

    private Map<String, Long> of(ProbeKind kind) {
        ProbeResults results = Objects.requireNonNull(counts.get(kind));
        return ImmutableMap.of(
                "successful", results.successful.sum(),
                "failed", results.failed.sum(),
                "unknown", results.unknown.sum());
    }
}
