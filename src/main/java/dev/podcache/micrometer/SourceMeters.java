package dev.podcache.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Adds meters of one object to a registry, which then refers to the object weakly if the functions do not refer to it.
 *
 * @param tags of each meter
 */
record SourceMeters<T>(T source, Iterable<Tag> tags, MeterRegistry registry) {

    /** Returns a copy that adds further tags: names and values in turn. */
    SourceMeters<T> with(String... further) {
        return new SourceMeters<>(source, Tags.concat(tags, further), registry);
    }

    /** @param unit null for a number without a unit */
    void gauge(String name, @Nullable String unit, String description, ToDoubleFunction<T> value) {
        Gauge.builder(name, source, value)
                .tags(tags)
                .description(description)
                .baseUnit(unit)
                .register(registry);
    }

    void counter(String name, String description, ToDoubleFunction<T> value) {
        FunctionCounter.builder(name, source, value)
                .tags(tags)
                .description(description)
                .register(registry);
    }

    /** Adds a counter for each key that {@code counts} has now, with the key as the value of {@code tag}. */
    void counters(String name, String tag, String description, Function<T, Map<String, Long>> counts) {
        for (String key : counts.apply(source).keySet()) {
            with(tag, key).counter(name, description, each -> counts.apply(each).getOrDefault(key, 0L));
        }
    }
}
