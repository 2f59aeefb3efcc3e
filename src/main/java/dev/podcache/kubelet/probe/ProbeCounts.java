package dev.podcache.kubelet.probe;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import dev.podcache.kubelet.probe.ProbeOutcome.Verdict;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts checks by probe and result, with the results of the kubelet's {@code prober_probe_total}. Thread-safe. */
final class ProbeCounts {

    static final ImmutableList<String> RESULTS = ImmutableList.of("successful", "failed", "unknown");

    private final ImmutableMap<ProbeKind, ImmutableMap<String, LongAdder>> counts = Arrays.stream(ProbeKind.values())
            .collect(ImmutableMap.toImmutableMap(kind -> kind, kind -> Maps.toMap(RESULTS, result -> new LongAdder())));

    static String result(Verdict verdict) {
        return switch (verdict) {
            case SUCCESS, WARNING -> "successful";
            case FAILURE -> "failed";
            case ERROR -> "unknown";
        };
    }

    void add(ProbeKind kind, Verdict verdict) {
        Objects.requireNonNull(Objects.requireNonNull(counts.get(kind)).get(result(verdict)))
                .increment();
    }

    /** Returns the counts, zeros too; unmodifiable. */
    Map<ProbeKind, Map<String, Long>> all() {
        return ImmutableMap.copyOf(Maps.transformValues(
                counts, ofKind -> ImmutableMap.copyOf(Maps.transformValues(ofKind, LongAdder::sum))));
    }
}
