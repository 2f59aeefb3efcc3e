package dev.podcache.access;

import dev.podcache.object.NotApi;
import dev.podcache.object.Quoted;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A path to fields of an object, such as {@code .spec.credentials[*].secretRef.name}: field names after dots, {@code [*]}
 * for every element of a list, {@code [0]} for one element, and {@code ['example.dev/secret']} for a field whose name has
 * other characters. Immutable.
 *
 * @hidden
 */
@NotApi
public final class FieldPath {

    /** A field after a dot, an element, all elements, or a field in quotation marks; from the end of the step before. */
    private static final Pattern STEP = Pattern.compile(
            "\\G(?:\\.([A-Za-z_$][A-Za-z0-9_$-]*)|\\[(\\d{1,6})]|\\[(\\*)]|\\['([^']+)']|\\[\"([^\"]+)\"])");

    private static final String REMEDY = "write it as .spec.tls.secretName or .spec.credentials[*].secretRef.name";

    private final String text;
    private final List<Function<Object, List<?>>> steps;

    private FieldPath(String text, List<Function<Object, List<?>>> steps) {
        this.text = text;
        this.steps = List.copyOf(steps);
    }

    /**
     * Returns the path that {@code text} writes.
     *
     * @throws IllegalArgumentException if it is not a path; the message says what is wrong and how it is written
     */
    static FieldPath parse(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("is empty: " + REMEDY);
        }
        List<Function<Object, List<?>>> steps = new ArrayList<>();
        Matcher matcher = STEP.matcher(text);
        int end = 0;
        while (matcher.find()) {
            steps.add(step(matcher));
            end = matcher.end();
        }
        if (end < text.length()) {
            throw new IllegalArgumentException("is " + Quoted.value(text) + ", which is not a path from character "
                    + (end + 1) + " on: " + REMEDY);
        }
        if (text.charAt(0) != '.') {
            throw new IllegalArgumentException(
                    "is " + Quoted.value(text) + ", but an object has fields, not elements: " + REMEDY);
        }
        return new FieldPath(text, steps);
    }

    private static Function<Object, List<?>> step(Matcher matcher) {
        if (matcher.group(2) != null) {
            int index = Integer.parseInt(matcher.group(2));
            return value -> value instanceof List<?> list && index < list.size() ? present(list.get(index)) : List.of();
        }
        if (matcher.group(3) != null) {
            return value -> value instanceof List<?> list ? list : List.of();
        }
        String name = matcher.group(1) != null
                ? matcher.group(1)
                : matcher.group(4) != null ? matcher.group(4) : matcher.group(5);
        return value -> value instanceof Map<?, ?> map ? present(map.get(name)) : List.of();
    }

    private static List<?> present(@Nullable Object value) {
        return value == null ? List.of() : List.of(value);
    }

    /** Returns the texts at this path, without empty ones, in their order. Other values are no names, and are left out. */
    Set<String> texts(Map<String, ?> object) {
        List<?> values = List.of(object);
        for (Function<Object, List<?>> step : steps) {
            List<Object> next = new ArrayList<>();
            for (Object value : values) {
                if (value != null) {
                    next.addAll(step.apply(value));
                }
            }
            values = next;
        }
        Set<String> texts = new LinkedHashSet<>();
        for (Object value : values) {
            if (value instanceof String found && !found.isEmpty()) {
                texts.add(found);
            }
        }
        return texts;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FieldPath that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** Returns the path as it was written. */
    @Override
    public String toString() {
        return text;
    }
}
