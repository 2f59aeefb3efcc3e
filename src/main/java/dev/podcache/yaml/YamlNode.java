package dev.podcache.yaml;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value of a YAML text, and where it begins. Immutable. Aliases are resolved: the node of an anchor is shared by all its
 * aliases. No {@code toString} shows content, which may be secret.
 */
public sealed interface YamlNode {

    /** Returns the line of its first character, from 1. */
    int line();

    /** Returns the column of its first character, from 1. */
    int column();

    /**
     * Returns the value as {@code Map<String, Object>}, {@code List<Object>}, {@code String}, {@code Integer}, {@code
     * Long}, {@code BigInteger}, {@code Double}, {@code Boolean} or null, numbers of the narrowest type as in Jackson. Collections are unmodifiable, and shared where nodes are.
     */
    default @Nullable Object value() {
        return value(new IdentityHashMap<>());
    }

    private @Nullable Object value(Map<YamlNode, Object> known) {
        if (this instanceof Scalar scalar) {
            return scalar.content();
        }
        Object before = known.get(this);
        if (before != null) {
            return before;
        }
        Object made;
        if (this instanceof Sequence sequence) {
            List<@Nullable Object> list = new ArrayList<>(sequence.elements().size());
            sequence.elements().forEach(element -> list.add(element.value(known)));
            made = Collections.unmodifiableList(list);
        } else {
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            ((Mapping) this).fields().forEach((name, field) -> map.put(name, field.value(known)));
            made = Collections.unmodifiableMap(map);
        }
        known.put(this, made);
        return made;
    }

    /**
     * Text, a number, a truth value, or nothing.
     *
     * @param content {@code String}, {@code Integer}, {@code Long}, {@code BigInteger}, {@code Double}, {@code Boolean} or null
     * @param text as it is written, without quotation marks; {@code 0644} for the number 420
     */
    record Scalar(@Nullable Object content, String text, int line, int column) implements YamlNode {

        /** Returns whether there is no value: {@code null}, {@code ~} or nothing at all. */
        public boolean isNull() {
            return content == null;
        }

        @Override
        public String toString() {
            return "a scalar at line " + line;
        }
    }

    /** A list. */
    record Sequence(List<YamlNode> elements, int line, int column) implements YamlNode {

        @Override
        public String toString() {
            return "a list of " + elements.size() + " at line " + line;
        }
    }

    /**
     * Fields by name, in their order, with those that a merge key brought.
     *
     * @param repeated the names that are written more than once, and where the second one is. The last one counts
     */
    record Mapping(Map<String, YamlNode> fields, Map<String, Scalar> repeated, int line, int column)
            implements YamlNode {

        /** Returns a field; null if it is missing or has no value. */
        public @Nullable YamlNode field(String name) {
            YamlNode field = fields.get(name);
            return field instanceof Scalar scalar && scalar.isNull() ? null : field;
        }

        @Override
        public String toString() {
            return "a map of " + fields.size() + " fields at line " + line;
        }
    }
}
