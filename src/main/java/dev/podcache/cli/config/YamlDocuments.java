package dev.podcache.cli.config;

import dev.podcache.cli.output.CommandException;
import dev.podcache.object.Quoted;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import dev.podcache.yaml.YamlNode.Sequence;
import dev.podcache.yaml.YamlReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parses YAML or JSON text into documents, with the line of each field. Stricter than {@link YamlReader}, as a kubelet is
 * with its configuration: a field that is written twice is refused.
 */
final class YamlDocuments {

    /** More than any configuration has. */
    private static final int MOST_VALUES = 100_000;

    private final String file;

    /** @param file for error messages */
    YamlDocuments(String file) {
        this.file = file;
    }

    /**
     * A field.
     *
     * @param value String, BigDecimal, Boolean, {@code Map<String, Object>} or {@code List<Object>}
     */
    record Field(Object value, int line) {}

    /** A document. Fields without a value, or with {@code null}, are left out. */
    record Document(String file, int line, Map<String, Field> fields) {

        /**
         * Returns the text of a required field.
         *
         * @throws CommandException if the field is missing
         */
        String text(String name) {
            Field field = fields.get(name);
            if (field == null || !(field.value() instanceof String text)) {
                throw broken(
                        line, "has no " + name + ": write apiVersion and kind first, " + ConfigurationKind.KUBELET);
            }
            return text;
        }

        /** Returns the setting of a field that is present. */
        Setting setting(String name) {
            Field field = fields.get(name);
            if (field == null) {
                throw new IllegalArgumentException("no " + name);
            }
            return new Setting("configuration " + file + " line " + field.line() + ": " + name, field.value(), false);
        }

        CommandException broken(int at, String why) {
            return YamlDocuments.broken(file, at, why);
        }
    }

    /**
     * Returns the documents in {@code text}, without empty ones.
     *
     * @throws CommandException if the text is not YAML, or a document is not a map
     */
    List<Document> parse(byte[] text) {
        List<YamlNode> nodes;
        try {
            nodes = YamlReader.read(text, new YamlReader.Limits(ConfigurationFile.LARGEST, MOST_VALUES));
        } catch (YamlException e) {
            throw new CommandException("configuration " + file + " " + e.getMessage(), e);
        }
        List<Document> documents = new ArrayList<>();
        for (YamlNode node : nodes) {
            if (node instanceof Mapping map) {
                documents.add(new Document(file, map.line(), fields(map)));
            } else if (!(node instanceof Scalar scalar && scalar.isNull())) {
                throw broken(file, node.line(), "is not a map of fields: write apiVersion and kind first");
            }
        }
        return documents;
    }

    private Map<String, Field> fields(Mapping map) {
        requireEachOnce(map);
        Map<String, Field> fields = new LinkedHashMap<>();
        map.fields().forEach((name, node) -> {
            Object value = value(node);
            if (value != null) {
                fields.put(name, new Field(value, node.line()));
            }
        });
        return fields;
    }

    private void requireEachOnce(Mapping map) {
        map.repeated().forEach((name, second) -> {
            throw broken(file, second.line(), "has " + Quoted.value(name) + " a second time: leave one out");
        });
    }

    private @Nullable Object value(YamlNode node) {
        if (node instanceof Scalar scalar) {
            return scalar(scalar);
        }
        if (node instanceof Sequence sequence) {
            List<Object> list = new ArrayList<>();
            for (YamlNode element : sequence.elements()) {
                Object value = value(element);
                list.add(value == null ? "" : value);
            }
            return list;
        }
        requireEachOnce((Mapping) node);
        Map<String, Object> map = new LinkedHashMap<>();
        ((Mapping) node).fields().forEach((name, field) -> {
            Object value = value(field);
            if (value != null) {
                map.put(name, value);
            }
        });
        return map;
    }

    private static @Nullable Object scalar(Scalar scalar) {
        Object content = scalar.content();
        if (content instanceof BigInteger integer) {
            return new BigDecimal(integer);
        }
        return content instanceof Number number ? new BigDecimal(number.toString()) : content;
    }

    private static CommandException broken(String file, int line, String why) {
        return new CommandException("configuration " + file + " line " + line + ": " + why, null);
    }
}
