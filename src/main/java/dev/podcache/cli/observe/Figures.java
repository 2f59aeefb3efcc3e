package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A column of the {@link Comparison}.
 *
 * @param reads how many the readers made
 * @param requests at the server, by verb
 * @param connections that were open at the end
 * @param watches that were open at the end
 * @param seenAfter changes of the demo, and after how many seconds a read saw each
 * @param outage null if the server has not failed
 */
public record Figures(
        ChangeDetectionStrategy strategy,
        long reads,
        ImmutableSortedMap<String, Long> requests,
        int connections,
        int watches,
        Map<String, Double> seenAfter,
        @Nullable ReadsInOutage outage) {

    long allRequests() {
        return requests.values().stream().mapToLong(Long::longValue).sum();
    }

    long requests(String verb) {
        return requests.getOrDefault(verb, 0L);
    }

    /** For programs. */
    public Map<String, Object> facts() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("strategy", strategy.name());
        facts.put("reads", reads);
        facts.put("requestsAtServer", allRequests());
        facts.put("requestsByVerb", requests);
        facts.put("connections", connections);
        facts.put("openWatches", watches);
        facts.put("seenAfterSeconds", seenAfter);
        if (outage != null) {
            facts.put("outage", outage.facts());
        }
        return facts;
    }
}
