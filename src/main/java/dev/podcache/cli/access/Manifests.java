package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CommandException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** Reads the documents of a manifest: YAML or JSON, from a file or from standard input. */
final class Manifests {

    private static final int LARGEST = 32 << 20;

    /** The parser is recursive; no manifest is deeper than this. */
    private static final int DEEPEST = 200;

    private final String origin;

    private Manifests(String origin) {
        this.origin = origin;
    }

    /**
     * Returns the documents that are maps, in their order; others cannot be objects of an API server.
     *
     * @param file a path, or {@code -} for standard input
     * @throws CommandException if it cannot be read, or is neither YAML nor JSON; the message names it and, if known, the
     *     line
     */
    static ImmutableList<Map<?, ?>> read(String file, InputStream standardInput) {
        Manifests manifests = new Manifests(file.equals("-") ? "standard input" : file);
        return manifests.parsed(manifests.text(file, standardInput));
    }

    private ImmutableList<Map<?, ?>> parsed(String text) {
        LoadSettings settings = LoadSettings.builder()
                .setLabel(origin)
                .setSchema(new CoreSchema())
                .setCodePointLimit(LARGEST)
                .build();
        ImmutableList.Builder<Map<?, ?>> documents = ImmutableList.builder();
        try {
            requireFinite(new Parse(settings).parseString(text));
            for (@Nullable Object document : new Load(settings).loadAllFromString(text)) {
                if (document instanceof Map<?, ?> map) {
                    documents.add(map);
                }
            }
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            throw broken(" line " + line + " is neither YAML nor JSON: " + e.getProblem(), e);
        } catch (YamlEngineException | IllegalArgumentException e) {
            throw broken(" is neither YAML nor JSON: " + e.getMessage(), e);
        }
        return documents.build();
    }

    /** Checks on the stream of events, without recursion, that later recursion ends. */
    private void requireFinite(Iterable<Event> events) {
        Deque<Optional<Anchor>> open = new ArrayDeque<>();
        for (Event event : events) {
            if (event instanceof CollectionStartEvent start) {
                open.push(start.getAnchor());
            } else if (event instanceof CollectionEndEvent) {
                open.pop();
            } else if (event instanceof AliasEvent alias && open.contains(Optional.of(alias.getAlias()))) {
                throw broken(" line " + line(event) + " contains itself through an alias: write it out", null);
            }
            if (open.size() > DEEPEST) {
                throw broken(
                        " line " + line(event) + " is nested deeper than " + DEEPEST + " levels: write it flatter",
                        null);
            }
        }
    }

    private static int line(Event event) {
        return event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    }

    private String text(String file, InputStream standardInput) {
        try {
            byte[] bytes = file.equals("-") ? standardInput.readNBytes(LARGEST + 1) : bytes(Path.of(file));
            if (bytes.length > LARGEST) {
                throw broken(" is larger than " + (LARGEST >> 20) + " MiB: give a part of it", null);
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (NoSuchFileException e) {
            throw broken(" does not exist: give the path of a manifest, or - for standard input", e);
        } catch (CharacterCodingException e) {
            throw broken(" is not UTF-8 text: give a manifest in YAML or JSON", e);
        } catch (IOException e) {
            throw broken(" cannot be read (" + e.getMessage() + "): give the path of a readable manifest", e);
        }
    }

    private byte[] bytes(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw broken(" is a directory: give the path of a manifest", null);
        }
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(LARGEST + 1);
        }
    }

    private CommandException broken(String why, @Nullable Throwable cause) {
        return new CommandException("manifest " + origin + why, cause);
    }
}
