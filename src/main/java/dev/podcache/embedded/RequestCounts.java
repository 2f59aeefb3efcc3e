package dev.podcache.embedded;

import com.google.common.collect.ImmutableSortedMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts requests by verb and resource. Thread-safe; what is read over several counts is not atomic. */
public final class RequestCounts {

    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    RequestCounts() {}

    void add(Verb verb, Resource resource) {
        counts.merge(name(verb, resource), 1, Integer::sum);
    }

    /** How many requests of this sort there were. */
    public int of(Verb verb, Resource resource) {
        return counts.getOrDefault(name(verb, resource), 0);
    }

    /** How many requests there were. */
    public int total() {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** The counts by names such as {@code get secrets}. */
    public ImmutableSortedMap<String, Integer> snapshot() {
        return ImmutableSortedMap.copyOf(counts);
    }

    private static String name(Verb verb, Resource resource) {
        return verb.name().toLowerCase(Locale.ROOT) + " " + resource.plural();
    }
}
