package dev.podcache.cli.config;

import dev.podcache.cli.output.CommandException;
import dev.podcache.object.Quoted;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** Parses YAML or JSON text into documents, with the line of each field. */
final class YamlDocuments {

    /** The composer of the documents is recursive; no configuration is deeper than this. */
    private static final int DEEPEST = 100;

    /** In characters. Parsing a longer number would take long. */
    private static final int LONGEST_NUMBER = 100;

    private final String file;

    /** The lists and maps so far. A repeated one is an alias, which can make a short text endless. */
    private final Set<Node> collections = Collections.newSetFromMap(new IdentityHashMap<>());

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
            return YamlDocuments.broken(file, at, why, null);
        }
    }

    /**
     * Returns the documents in {@code text}, without empty ones.
     *
     * @throws CommandException if the text is not YAML, or a document is not a map
     */
    List<Document> parse(String text) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file)
                .setSchema(new CoreSchema())
                .build();
        List<Document> documents = new ArrayList<>();
        try {
            requireShallow(new Parse(settings).parseString(text));
            for (Node node : new Compose(settings).composeAllFromString(text)) {
                if (node instanceof MappingNode map) {
                    documents.add(new Document(file, line(map), fields(map)));
                } else if (!node.getTag().equals(Tag.NULL)) {
                    throw broken(file, line(node), "is not a map of fields: write apiVersion and kind first", null);
                }
            }
        } catch (MarkedYamlEngineException e) {
            int at = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw broken(file, at, "is neither YAML nor JSON: " + e.getProblem(), e);
        } catch (YamlEngineException e) {
            throw new CommandException("configuration " + file + " is neither YAML nor JSON: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            // thrown by the parser for "\U", a tag "!!%9" and the like, without a position
            throw new CommandException(
                    "configuration " + file
                            + " is neither YAML nor JSON: a \\ or % in it has no hexadecimal digits of a"
                            + " character after it",
                    e);
        }
        return documents;
    }

    /** Checks the depth on the stream of events, without recursion. */
    private void requireShallow(Iterable<Event> events) {
        int depth = 0;
        for (Event event : events) {
            if (event instanceof CollectionStartEvent) {
                depth++;
            } else if (event instanceof CollectionEndEvent) {
                depth--;
            }
            if (depth > DEEPEST) {
                int at = event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
                throw broken(file, at, "is nested deeper than " + DEEPEST + " levels: write it flatter", null);
            }
        }
    }

    private Map<String, Field> fields(MappingNode map) {
        Map<String, Field> fields = new LinkedHashMap<>();
        for (NodeTuple tuple : map.getValue()) {
            int at = line(tuple.getKeyNode());
            String name = name(tuple);
            if (fields.containsKey(name)) {
                throw broken(file, at, "has " + Quoted.value(name) + " a second time: leave one out", null);
            }
            Object value = value(tuple.getValueNode());
            if (value != null) {
                fields.put(name, new Field(value, at));
            }
        }
        return fields;
    }

    private @Nullable Object value(Node node) {
        if (node instanceof ScalarNode scalar) {
            return scalar(scalar);
        }
        if (!collections.add(node)) {
            throw broken(file, line(node), "is used again through an alias: write it out", null);
        }
        if (node instanceof SequenceNode sequence) {
            List<Object> list = new ArrayList<>();
            for (Node element : sequence.getValue()) {
                Object value = value(element);
                list.add(value == null ? "" : value);
            }
            return list;
        }
        Map<String, Object> map = new LinkedHashMap<>();
        for (NodeTuple tuple : ((MappingNode) node).getValue()) {
            Object value = value(tuple.getValueNode());
            if (map.put(name(tuple), value == null ? "" : value) != null) {
                throw broken(file, line(node), "has " + Quoted.value(name(tuple)) + " twice: leave one out", null);
            }
        }
        return map;
    }

    private static @Nullable Object scalar(ScalarNode scalar) {
        String text = scalar.getValue();
        Tag tag = scalar.getTag();
        if (tag.equals(Tag.NULL)) {
            return null;
        }
        if (tag.equals(Tag.BOOL)) {
            return Boolean.parseBoolean(text);
        }
        boolean number = tag.equals(Tag.INT) || tag.equals(Tag.FLOAT);
        if (number && text.length() <= LONGEST_NUMBER) {
            try {
                return new BigDecimal(text);
            } catch (NumberFormatException hexadecimalOrInfinite) {
                return text;
            }
        }
        return text;
    }

    private String name(NodeTuple tuple) {
        if (tuple.getKeyNode() instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw broken(file, line(tuple.getKeyNode()), "has a field whose name is not text", null);
    }

    private static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    private static CommandException broken(String file, int line, String why, @Nullable Throwable cause) {
        return new CommandException("configuration " + file + " line " + line + ": " + why, cause);
    }
}
