package dev.podcache.embedded;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Counts requests by verb and resource. Thread-safe; results that combine several counts are not atomic. */
public final class RequestCounts {

    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    RequestCounts() {}

    void add(Verb verb, Resource resource) {
        counts.merge(name(verb, resource), 1, Integer::sum);
    }

    /** Returns the number of requests with this verb for this resource. */
    public int of(Verb verb, Resource resource) {
        return counts.getOrDefault(name(verb, resource), 0);
    }

    /** Returns the number of all requests. */
    public int total() {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns an unmodifiable copy of the counts, by sorted names such as {@code get secrets} or
     * {@code list websites.example.dev}. */
    public SortedMap<String, Integer> snapshot() {
        return Collections.unmodifiableSortedMap(new TreeMap<>(counts));
    }

    /** Returns the {@link #snapshot}, such as {@code {get secrets=1, watch configmaps=2}}. */
    @Override
    public String toString() {
        return snapshot().toString();
    }

    private static String name(Verb verb, Resource resource) {
        return verb.name().toLowerCase(Locale.ROOT) + " "
                + (resource.isCustom() ? resource.qualified() : resource.plural());
    }
}
