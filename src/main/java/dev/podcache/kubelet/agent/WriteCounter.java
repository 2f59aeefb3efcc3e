package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** Counts the requests of one kind by their outcome. Thread-safe; no method blocks. */
final class WriteCounter {

    private final LongAdder succeeded = new LongAdder();
    private final ImmutableMap<FailureReason, LongAdder> failed = Arrays.stream(FailureReason.values())
            .collect(ImmutableMap.toImmutableMap(reason -> reason, reason -> new LongAdder()));

    /** Returns {@code request}, and counts its outcome. A failure of another kind counts as {@code rejected}. */
    <T> CompletableFuture<T> counted(CompletableFuture<T> request) {
        return request.whenComplete((answer, failure) -> {
            if (failure == null) {
                succeeded.increment();
            } else {
                FailureReason reason = ApiServerException.reasonOf(failure);
                counter(reason == null ? FailureReason.REJECTED : reason).increment();
            }
        });
    }

    private LongAdder counter(FailureReason reason) {
        return Objects.requireNonNull(failed.get(reason));
    }

    /** Returns the counts by outcome: {@code succeeded}, or the reason in lower case. Zeros too; unmodifiable. */
    Map<String, Long> byOutcome() {
        Map<String, Long> counts = new TreeMap<>();
        counts.put("succeeded", succeeded.sum());
        for (FailureReason reason : FailureReason.values()) {
            counts.put(reason.name().toLowerCase(Locale.ROOT), counter(reason).sum());
        }
        return Collections.unmodifiableMap(counts);
    }
}
