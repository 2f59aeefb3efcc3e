package dev.podcache.yaml;

import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import dev.podcache.yaml.YamlNode.Sequence;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.YamlUnicodeReader;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.parser.ParserImpl;

/**
 * Reads YAML 1.1 and JSON as Kubernetes does: merge keys, anchors, {@code yes} and {@code off}, octal numbers, tabs behind
 * a colon, UTF-8, and UTF-16 with a byte order mark. What is written twice counts as written last; see {@link
 * Mapping#repeated}. Not thread-safe; make one for each text.
 *
 * <p>Follows {@code sigs.k8s.io/yaml}, which reads with go-yaml. The parser is snakeyaml-engine, which knows YAML 1.2 only:
 * so what a scalar means, what a merge key brings and where a tab may stand is decided here.
 */
public final class YamlReader {

    /** Levels of lists and maps, aliases included. No object of Kubernetes is as deep; readers of nodes may recurse. */
    private static final int DEEPEST = 200;

    private static final String BINARY = "tag:yaml.org,2002:binary";
    private static final Map<String, Predicate<@Nullable Object>> TYPES = Map.of(
            "tag:yaml.org,2002:int", content -> content instanceof Number && !(content instanceof Double),
            "tag:yaml.org,2002:float", content -> content instanceof Number,
            "tag:yaml.org,2002:bool", content -> content instanceof Boolean,
            "tag:yaml.org,2002:null", content -> content == null);

    /** What the parser says without quoting: only the beginning of its sentence, up to here, is repeated. */
    private static final List<String> PROBLEMS = List.of(
            "mapping values are not allowed here",
            "could not find expected ':'",
            "found unexpected end of stream",
            "found unexpected document separator",
            "block sequence entries are not allowed here",
            "mapping keys are not allowed here",
            "found undefined alias",
            "found duplicate anchor",
            "expected the node content",
            "expected <block end>",
            "expected chomping or indentation indicators",
            "expected ' '",
            "special characters are not allowed",
            "found character '\\t(TAB)' that cannot start any token");

    private final Limits limits;
    private final Map<String, Anchored> anchors = new HashMap<>(); // of this document
    private final Set<String> openAnchors = new HashSet<>();
    private final Deque<OpenNode> open = new ArrayDeque<>();
    private long nodes; // so far, aliases replaced

    /**
     * What a text may take.
     *
     * @param bytes of the text
     * @param nodes values after every alias is replaced by what it stands for: a text of 500 bytes can stand for more values
     *     than there is memory for
     */
    public record Limits(int bytes, int nodes) {}

    /**
     * A node that aliases can stand for.
     *
     * @param nodes how many it has with itself, each alias counted as what it stands for
     * @param depth how many levels it has with its own, each alias counted as what it stands for
     */
    private record Anchored(YamlNode node, long nodes, int depth) {}

    /** A list or map whose end has not been read. */
    private static final class OpenNode {
        final NodeEvent start;
        final long nodesBefore;
        final List<YamlNode> elements = new ArrayList<>(); // of a map: name, value, name, value
        final Set<Integer> merges = new HashSet<>(); // places of merge keys among the elements
        int depth = 1;

        OpenNode(NodeEvent start, long nodesBefore) {
            this.start = start;
            this.nodesBefore = nodesBefore;
        }
    }

    private YamlReader(Limits limits) {
        this.limits = limits;
    }

    /**
     * Returns the documents of {@code text}, in their order. An empty one is a {@link Scalar} without a value; an empty text
     * has none.
     *
     * @throws YamlException if it is neither YAML nor JSON, no text, or beyond a limit
     */
    public static List<YamlNode> read(byte[] text, Limits limits) {
        if (text.length > limits.bytes()) {
            throw new YamlException(1, 1, "the text is larger than " + limits.bytes() + " bytes: give a part of it");
        }
        return new YamlReader(limits).documents(decoded(text));
    }

    /** Returns the documents of {@code text}; see {@link #read(byte[], Limits)}. */
    public static List<YamlNode> read(String text, Limits limits) {
        return read(text.getBytes(StandardCharsets.UTF_8), limits);
    }

    private static String decoded(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        try (YamlUnicodeReader reader = new YamlUnicodeReader(new ByteArrayInputStream(bytes))) {
            char[] part = new char[8192];
            for (int read = reader.read(part, 0, part.length); read >= 0; read = reader.read(part, 0, part.length)) {
                text.append(part, 0, read);
            }
        } catch (CharacterCodingException e) {
            throw new YamlException(1, 1, "it is not text in UTF-8 or UTF-16");
        } catch (IOException e) {
            throw new IllegalStateException("an array cannot be read", e);
        }
        return text.toString();
    }

    private List<YamlNode> documents(String text) {
        LoadSettings settings = LoadSettings.builder()
                .setCodePointLimit(Integer.MAX_VALUE)
                // all at once: for each part that the parser reads, it copies what it has read of a scalar or a comment
                .setBufferSize(text.length() + 1)
                .build();
        List<YamlNode> documents = new ArrayList<>();
        try {
            ParserImpl events = new ParserImpl(settings, new TabScanner(settings, text));
            while (events.hasNext()) {
                Event event = events.next();
                if (event instanceof DocumentStartEvent) {
                    anchors.clear();
                }
                YamlNode node = take(event);
                if (node != null && open.isEmpty()) {
                    documents.add(node);
                }
            }
        } catch (YamlException e) {
            throw e;
        } catch (MarkedYamlEngineException e) {
            throw refusal(e);
        } catch (ReaderException e) {
            throw new YamlException(1 + breaks(text, e.getPosition()), 1, "it has a control character");
        } catch (YamlEngineException | IllegalArgumentException e) {
            // the latter for "\U", a tag "!!%9" and the like: without a position
            throw new YamlException(1, 1, "it is neither YAML nor JSON: an escape or a tag in it is incomplete");
        }
        return Collections.unmodifiableList(documents);
    }

    private static int breaks(String text, int end) {
        return (int) text.codePoints().limit(end).filter(point -> point == '\n').count();
    }

    /** Returns the node that ends with this event; null if none does. */
    private @Nullable YamlNode take(Event event) {
        YamlNode node;
        int depth = 1;
        if (event instanceof ScalarEvent scalar) {
            node = scalar(scalar);
            count(1, event);
            remember(scalar, new Anchored(node, 1, depth));
        } else if (event instanceof AliasEvent alias) {
            Anchored anchored = anchored(alias);
            node = anchored.node;
            depth = anchored.depth;
            count(anchored.nodes, event);
        } else if (event instanceof SequenceStartEvent || event instanceof MappingStartEvent) {
            begin((NodeEvent) event);
            return null;
        } else if (event instanceof CollectionEndEvent) {
            OpenNode ended = open.pop();
            node = ended.start instanceof MappingStartEvent ? mapping(ended) : sequence(ended);
            depth = ended.depth;
            remember(ended.start, new Anchored(node, nodes - ended.nodesBefore, depth));
        } else {
            return null;
        }
        OpenNode parent = open.peek();
        if (parent != null) {
            if (isMergeKey(event)) {
                parent.merges.add(parent.elements.size());
            }
            parent.elements.add(node);
            parent.depth = Math.max(parent.depth, depth + 1);
            requireShallow(open.size() + depth, event);
        }
        return node;
    }

    private void begin(NodeEvent event) {
        open.push(new OpenNode(event, nodes));
        event.getAnchor().ifPresent(anchor -> openAnchors.add(anchor.getValue()));
        count(1, event);
        requireShallow(open.size(), event);
    }

    private void count(long more, Event event) {
        nodes += more;
        if (nodes > limits.nodes()) {
            throw at(event, "it has more than " + limits.nodes() + " values, its aliases replaced: write fewer");
        }
    }

    private static void requireShallow(int depth, Event event) {
        if (depth > DEEPEST) {
            throw at(event, "it is nested deeper than " + DEEPEST + " levels: write it flatter");
        }
    }

    private static boolean isMergeKey(Event event) {
        return event instanceof ScalarEvent scalar
                && scalar.isPlain()
                && scalar.getTag().isEmpty()
                && scalar.getValue().equals("<<");
    }

    private void remember(NodeEvent event, Anchored anchored) {
        event.getAnchor().ifPresent(anchor -> {
            openAnchors.remove(anchor.getValue());
            anchors.put(anchor.getValue(), anchored);
        });
    }

    private Anchored anchored(AliasEvent event) {
        String anchor = event.getAlias().getValue();
        if (openAnchors.contains(anchor)) {
            throw at(event, "it contains itself through an alias: write it out");
        }
        Anchored anchored = anchors.get(anchor);
        if (anchored == null) {
            throw at(event, "found undefined alias: define its anchor before it");
        }
        return anchored;
    }

    private static Scalar scalar(ScalarEvent event) {
        String text = event.getValue();
        String tag = event.getTag().orElse("");
        Object content = text;
        Predicate<@Nullable Object> type = tag.isEmpty() ? any -> true : TYPES.get(tag);
        if (type != null && (event.isPlain() || !tag.isEmpty())) {
            if (Scalars.isNoNumberOfJson(text)) {
                throw at(
                        event,
                        "it is no number that Kubernetes knows: write a finite one, or put it in quotation marks");
            }
            content = Scalars.plain(text);
            if (!type.test(content)) {
                throw at(event, "it is not of the type that its tag names");
            }
        } else if (tag.equals(BINARY)) {
            content = binary(event);
        }
        return new Scalar(content, text, line(event), column(event));
    }

    private static String binary(ScalarEvent event) {
        try {
            return new String(
                    Base64.getDecoder().decode(event.getValue().replaceAll("\\s+", "")), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw at(event, "it is tagged !!binary, and is not base64");
        }
    }

    private static Sequence sequence(OpenNode ended) {
        return new Sequence(List.copyOf(ended.elements), line(ended.start), column(ended.start));
    }

    /** A merge key replaces fields of its map that are written before it, as in go-yaml. */
    private static Mapping mapping(OpenNode ended) {
        Map<String, YamlNode> fields = new LinkedHashMap<>();
        Set<String> written = new HashSet<>();
        Map<String, Scalar> repeated = new LinkedHashMap<>();
        for (int at = 0; at < ended.elements.size(); at += 2) {
            YamlNode key = ended.elements.get(at);
            YamlNode value = ended.elements.get(at + 1);
            if (ended.merges.contains(at)) {
                sources(value).forEach(source -> fields.putAll(source.fields()));
            } else {
                String name = name(key);
                fields.put(name, value);
                if (!written.add(name)) {
                    repeated.putIfAbsent(name, (Scalar) key);
                }
            }
        }
        return new Mapping(
                Collections.unmodifiableMap(fields),
                Collections.unmodifiableMap(repeated),
                line(ended.start),
                column(ended.start));
    }

    /** What a merge key brings, the most important map last: of a list, that is the first. */
    private static List<Mapping> sources(YamlNode value) {
        if (value instanceof Mapping one) {
            return List.of(one);
        }
        List<Mapping> sources = new ArrayList<>();
        if (value instanceof Sequence several) {
            for (YamlNode each : several.elements()) {
                if (each instanceof Mapping source) {
                    sources.add(source);
                }
            }
            if (sources.size() == several.elements().size()) {
                Collections.reverse(sources);
                return sources;
            }
        }
        throw new YamlException(
                value.line(), value.column(), "a merge key << needs a map, or a list of maps, for its value");
    }

    /** As the JSON of it has: a number and a truth value are text there. */
    private static String name(YamlNode key) {
        if (key instanceof Scalar scalar) {
            Object content = scalar.content();
            if (content instanceof Double) {
                return scalar.text();
            }
            if (content != null) {
                return content.toString();
            }
        }
        throw new YamlException(key.line(), key.column(), "the name of a field must be text");
    }

    private static YamlException refusal(MarkedYamlEngineException e) {
        String problem = String.valueOf(e.getProblem());
        String said = PROBLEMS.stream().filter(problem::startsWith).findFirst().orElse("");
        if (said.contains("TAB")) {
            said = "a tab indents: use spaces";
        }
        Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
        return new YamlException(
                mark == null ? 1 : mark.getLine() + 1,
                mark == null ? 1 : mark.getColumn() + 1,
                "it is neither YAML nor JSON" + (said.isEmpty() ? "" : ": " + said));
    }

    private static YamlException at(Event event, String problem) {
        return new YamlException(line(event), column(event), problem);
    }

    private static int line(Event event) {
        return event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    private static int column(Event event) {
        return event.getStartMark().map(mark -> mark.getColumn() + 1).orElse(1);
    }
}
